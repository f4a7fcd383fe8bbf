/** Heights of the parts of a list, with sums in logarithmic time (a Fenwick tree), so that ten thousand parts cost little. */
export class Heights {
  #heights: number[] = [];
  #tree: number[] = [0];

  get length(): number {
    return this.#heights.length;
  }

  /** Makes it so many parts long; new ones get the height that is given for them. */
  resize(length: number, height: (at: number) => number): void {
    if (length < this.#heights.length) {
      this.#heights.length = length;
      this.#rebuild();
      return;
    }
    const from = this.#heights.length;
    if (length - from > 64) {
      for (let at = from; at < length; at++) this.#heights.push(height(at));
      this.#rebuild();
      return;
    }
    for (let at = from; at < length; at++) this.#push(height(at));
  }

  get(at: number): number {
    return this.#heights[at] ?? 0;
  }

  set(at: number, height: number): void {
    const change = height - this.#heights[at]!;
    this.#heights[at] = height;
    for (let node = at + 1; node < this.#tree.length; node += node & -node) this.#tree[node]! += change;
  }

  /** The sum of all heights before a part. */
  before(at: number): number {
    let sum = 0;
    for (let node = at; node > 0; node -= node & -node) sum += this.#tree[node]!;
    return sum;
  }

  total(): number {
    return this.before(this.#heights.length);
  }

  /** The part at a distance from the top: the last one that begins at or before it. */
  at(top: number): number {
    let node = 0;
    let rest = top;
    let step = 1 << Math.floor(Math.log2(Math.max(1, this.#tree.length - 1)));
    for (; step > 0; step >>= 1) {
      const next = node + step;
      if (next < this.#tree.length && this.#tree[next]! <= rest) {
        node = next;
        rest -= this.#tree[next]!;
      }
    }
    return Math.max(0, Math.min(node, this.#heights.length - 1));
  }

  #push(height: number): void {
    const node = this.#heights.push(height);
    // A node of the tree is the sum of the parts that it covers, itself included.
    let sum = height;
    for (let below = node - 1, stop = node - (node & -node); below > stop; below -= below & -below) sum += this.#tree[below]!;
    this.#tree[node] = sum;
  }

  #rebuild(): void {
    this.#tree = new Array<number>(this.#heights.length + 1).fill(0);
    for (let node = 1; node < this.#tree.length; node++) {
      this.#tree[node]! += this.#heights[node - 1]!;
      const parent = node + (node & -node);
      if (parent < this.#tree.length) this.#tree[parent]! += this.#tree[node]!;
    }
  }
}
