"""A port of 127.0.0.1 that nobody listens on, below the range that Linux hands to outgoing connections."""
import random, socket

# 32768 to 60999 are handed out, so that a connection may have any of those for as long as it likes.
PORTS = range(20000, 32768)


def free_port():
    for port in random.SystemRandom().sample(PORTS, len(PORTS)):
        with socket.socket() as s:
            s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                s.bind(("127.0.0.1", port))
                return port
            except OSError:
                continue
    raise SystemExit("no port between 20000 and 32767 is free")


if __name__ == "__main__":
    print(free_port())
