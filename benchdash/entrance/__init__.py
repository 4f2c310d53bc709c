"""The way of a request from the socket to a thread, and what ends it there: size, time and number.

An event loop reads requests and sends answers, so that a slow client costs a socket and no thread. A thread
gets a request when all of it is there, and is free when its answer is made.
"""
