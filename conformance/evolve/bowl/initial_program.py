"""Four numbers, far from where they should be."""


# EVOLVE-BLOCK-START
def numbers():
    first = 1.0
    second = 0.0
    third = -0.5
    fourth = 40.0
    return [first, second, third, fourth]
# EVOLVE-BLOCK-END


if __name__ == "__main__":
    print(numbers())
