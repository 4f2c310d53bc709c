"""What all views of the API share: one base, parameters, pages, and the headers of requests and answers."""
