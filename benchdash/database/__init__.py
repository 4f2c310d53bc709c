"""How Django speaks to PostgreSQL here; and the rows that every request looks up."""
