"""Behind ``make run``: starts everything that benchdash consists of, keeps it running, and stops it."""
