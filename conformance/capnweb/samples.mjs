// The sample values of the contract (README.md), how to make one and how to recognise one.
import { RpcTarget } from "capnweb";

export class Counter extends RpcTarget {
  #value;
  constructor(start = 0) { super(); this.#value = start; }
  increment(by = 1) { return (this.#value += by); }
  get value() { return this.#value; }
}

export const double = n => 2 * n;

/** The byte every pattern has at offset `i`. */
export const patternByte = i => (i * 31) & 255;

/** `length` pattern bytes, the first one being that of offset `from`. */
export function pattern(length, from = 0) {
  const bytes = new Uint8Array(length);
  for (let i = 0; i < length; i++) bytes[i] = patternByte(from + i);
  return bytes;
}

/** The hash of the contract; `hash` is the value so far. */
export function hashOf(bytes, hash = 0) {
  for (const byte of bytes) hash = (Math.imul(hash, 31) + byte) >>> 0;
  return hash;
}

const BLOB_TYPE = "application/x-sample";
const blobSizes = { blob0: 0, blob10: 10, blob1m: 1 << 20 };

// Plain data: a value that is a copy at the receiver and can be compared by `same`.
const plain = {
  null: () => null,
  undefined: () => undefined,
  true: () => true,
  false: () => false,
  zero: () => 0,
  integer: () => 42,
  negative: () => -7,
  float: () => 0.1,
  tiny: () => 5e-324,
  huge: () => 1.7976931348623157e308,
  exponent: () => 1e21,
  maxSafe: () => 9007199254740991,
  inf: () => Infinity,
  "-inf": () => -Infinity,
  nan: () => NaN,
  string: () => "h\u00e9 \u0000\n\t\"\\ \u2028 \u{1F600}",
  emptyString: () => "",
  array: () => [1, [2, [3, []]], "x", null, true],
  emptyArray: () => [],
  sparse: () => [undefined, 1, undefined],
  object: () => ({ z: 1, a: { b: [1, { c: "d" }] }, "": 0, "two words": false, m: null }),
  emptyObject: () => ({}),
  objectUndefined: () => ({ u: undefined, n: null }),
  deep: () => { let v = "bottom"; for (let i = 0; i < 200; i++) v = [v]; return v; },
  bigint: () => 123456789012345678901234567890n,
  bigintNegative: () => -18446744073709551617n,
  bigintZero: () => 0n,
  bigintLong: () => 10n ** 4000n,
  date: () => new Date(1700000000123),
  dateNegative: () => new Date(-1),
  dateInvalid: () => new Date(NaN),
  bytes: () => Uint8Array.of(0, 1, 2, 253, 254, 255, 62),
  bytesEmpty: () => new Uint8Array(0),
  arrayBuffer: () => Uint8Array.of(1, 2, 3, 4, 5).buffer,
  dataView: () => new DataView(Uint8Array.of(9, 8, 7).buffer),
  int8Array: () => Int8Array.of(-128, 0, 127),
  uint8ClampedArray: () => Uint8ClampedArray.of(0, 128, 255),
  int16Array: () => Int16Array.of(-32768, 1, 32767),
  uint16Array: () => Uint16Array.of(0, 258, 65535),
  int32Array: () => Int32Array.of(-2147483648, 1, 2147483647),
  uint32Array: () => Uint32Array.of(0, 16909060, 4294967295),
  bigInt64Array: () => BigInt64Array.of(-9223372036854775808n, 1n),
  bigUint64Array: () => BigUint64Array.of(0n, 18446744073709551615n),
  float32Array: () => Float32Array.of(0.5, -1.25, Infinity),
  float64Array: () => Float64Array.of(0.1, -1e300, 5e-324),
  Error: () => new Error("sample Error"),
  EvalError: () => new EvalError("sample EvalError"),
  RangeError: () => new RangeError("sample RangeError"),
  ReferenceError: () => new ReferenceError("sample ReferenceError"),
  SyntaxError: () => new SyntaxError("sample SyntaxError"),
  TypeError: () => new TypeError("sample TypeError"),
  URIError: () => new URIError("sample URIError"),
  errorProps: () => Object.assign(new Error("with props"),
    { code: "E_SAMPLE", detail: { list: [1, 2], when: new Date(0) }, big: 5n }),
  errorCause: () => new Error("outer", { cause: new TypeError("inner") }),
  errorAggregate: () => new AggregateError([new Error("one"), new RangeError("two")], "several"),
  url: () => new URL("https://example.com/a/b?q=1#frag"),
  headers: () => new Headers({ "content-type": "text/plain", "x-sample": "one, two" }),
};

// Values that only a look inside can recognise: bodies, blobs and capabilities.
const live = {
  request: () => new Request("https://example.com/submit",
    { method: "POST", headers: { "x-sample": "1" }, body: "hello request" }),
  requestPlain: () => new Request("https://example.com/plain"),
  response: () => new Response("hello response",
    { status: 201, statusText: "Made", headers: { "x-sample": "1" } }),
  responseEmpty: () => new Response(null, { status: 204 }),
  blob0: () => new Blob([], { type: BLOB_TYPE }),
  blob10: () => new Blob([pattern(10)], { type: BLOB_TYPE }),
  blob1m: () => new Blob([pattern(1 << 20)], { type: BLOB_TYPE }),
  function: () => double,
  counter: () => new Counter(10),
  nested: () => ({ counter: new Counter(5), double, list: [new Counter(1), double] }),
};

const isCallable = v => typeof v === "function";

const recognise = {
  request: async v => v instanceof Request && v.url === "https://example.com/submit" && v.method === "POST"
    && v.headers.get("x-sample") === "1" && await v.text() === "hello request",
  requestPlain: async v => v instanceof Request && v.url === "https://example.com/plain" && v.method === "GET"
    && [...v.headers].length === 0 && v.body === null,
  response: async v => v instanceof Response && v.status === 201 && v.statusText === "Made"
    && v.headers.get("x-sample") === "1" && await v.text() === "hello response",
  responseEmpty: async v => v instanceof Response && v.status === 204 && await v.text() === "",
  function: async v => isCallable(v) && await v(21) === 42,
  counter: async v => isCallable(v) && await v.increment(5) === 15,
  nested: async v => Object.keys(v).join() === "counter,double,list" && v.list.length === 2
    && await v.counter.increment(1) === 6 && await v.double(2) === 4
    && await v.list[0].increment(1) === 2 && await v.list[1](3) === 6,
  regexp: async v => v instanceof RegExp && v.source === "a+b" && v.flags === "gi",
};
for (const [kind, size] of Object.entries(blobSizes)) {
  recognise[kind] = async v => v instanceof Blob && v.type === BLOB_TYPE && v.size === size
    && same(new Uint8Array(await v.arrayBuffer()), pattern(size));
}

/** Kinds that are copied whole, so that they may also be thrown, logged and echoed. */
export const plainKinds = Object.keys(plain);
/** Kinds with a body, a stream or a capability in them. */
export const liveKinds = Object.keys(live);
/** Kinds that are errors. */
export const errorKinds = plainKinds.filter(kind => plain[kind]() instanceof Error);

export function make(kind) {
  const maker = Object.hasOwn(plain, kind) ? plain[kind] : Object.hasOwn(live, kind) ? live[kind] : undefined;
  if (!maker) throw new RangeError(`unknown kind: ${kind}`);
  return maker();
}

export async function check(kind, value) {
  if (Object.hasOwn(recognise, kind)) return recognise[kind](value);
  return same(value, make(kind));
}

// Node hands out a Buffer where the sample is a Uint8Array.
const typeName = v => {
  const name = v.constructor?.name;
  return name === "Buffer" ? "Uint8Array" : name;
};

const bytesOf = v => v instanceof ArrayBuffer ? new Uint8Array(v) : new Uint8Array(v.buffer, v.byteOffset, v.byteLength);

/** Same type, same contents, same key order; stacks of errors do not count. */
export function same(a, b) {
  if (Object.is(a, b)) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (typeName(a) !== typeName(b)) return false;
  if (a instanceof Date) return Object.is(a.getTime(), b.getTime());
  if (a instanceof URL) return a.href === b.href;
  if (a instanceof Headers) return same([...a], [...b]);
  if (a instanceof ArrayBuffer || ArrayBuffer.isView(a)) {
    const [x, y] = [bytesOf(a), bytesOf(b)];
    return x.length === y.length && x.every((byte, i) => byte === y[i]);
  }
  if (Array.isArray(a)) return a.length === b.length && a.every((v, i) => same(v, b[i]));
  if (a instanceof Error) {
    return a.name === b.name && a.message === b.message && same(errorFields(a), errorFields(b));
  }
  const keys = Object.keys(a);
  return same(keys, Object.keys(b)) && keys.every(key => same(a[key], b[key]));
}

// `cause` and `errors` are hidden properties where an error is made and plain ones where it arrives.
function errorFields(error) {
  const names = [...Object.keys(error), "cause", "errors"].filter(key => Object.hasOwn(error, key));
  return Object.fromEntries([...new Set(names)].sort().map(key => [key, error[key]]));
}
