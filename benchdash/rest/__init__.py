"""The ground of all views of the API: one base, parameters, pages, and headers of requests and answers."""
