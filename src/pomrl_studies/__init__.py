"""The shipped studies, laid out like a user's study."""
