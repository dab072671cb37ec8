"""The page's queries on the public views, as SQLAlchemy statements; every value is bound."""
