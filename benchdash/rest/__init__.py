"""The ground of all views of the API: one base, parameters, pages, and the headers of requests and answers."""
