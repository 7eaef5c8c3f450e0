"""The shipped studies; each folder has the form of a user's own."""
