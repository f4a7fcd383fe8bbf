# EVOLVE-BLOCK-START
def position():
    return -1.5
# EVOLVE-BLOCK-END
