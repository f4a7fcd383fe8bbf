"""A pipeline of four modules."""


# EVOLVE-BLOCK-START
def configure():
    """Returns which module does each part of the work.

    reader: "lines", "table", "markup", "columns", "query"
    cleaner: "none", "scale", "rank", "clip", "whiten"
    method: "mean", "tree", "kernel", "neighbours", "layers"
    writer: "plain", "page", "rows", "chart", "archive"
    """
    return {
        "reader": "lines",
        "cleaner": "none",
        "method": "mean",
        "writer": "plain",
    }
# EVOLVE-BLOCK-END
