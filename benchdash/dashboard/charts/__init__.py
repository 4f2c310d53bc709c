"""Points in, figures out: plain dicts that Plotly draws. No queries here."""
