"""stub"""


def write_direct(text, dialect, outline, out):
    return None
