-- For psql, as a superuser: makes the role that owns benchdash's database and has no other right.
-- Its password is taken from the environment.
\getenv password DATABASE_PASSWORD
CREATE ROLE benchdash LOGIN PASSWORD :'password';
CREATE DATABASE benchdash OWNER benchdash TEMPLATE template0
  ENCODING 'UTF8' LOCALE_PROVIDER builtin BUILTIN_LOCALE 'C.UTF-8' LOCALE 'C';
