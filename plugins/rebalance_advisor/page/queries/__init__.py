"""What the page asks the public views, as SQLAlchemy statements; every value is bound."""
