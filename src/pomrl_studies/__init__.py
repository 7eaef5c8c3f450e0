"""The studies that are shipped, each a folder of the form that anybody's has."""
