import { Optional } from 'cel-js';
import { Duration } from 'cel-js/evaluator';
import { isEqual, isMember, keyOf } from './equality.ts';
import { globalCalls, methods } from './functions/calls.ts';
import { checkedInt } from './functions/conversions.ts';
import { durationOf, nanosecondsIn } from './functions/duration.ts';
import { timestampOf } from './functions/timestamp.ts';
import { callOf, type LibraryEvaluator, type LibraryNode, type Scope } from './library-node.ts';
import { CelFailure, meter } from './meter.ts';
import { TypedRecord } from './values-in.ts';

/** Evaluates one part; its own parts are evaluated through the evaluator. */
export type Evaluate = (evaluator: LibraryEvaluator, scope: Scope) => unknown;

/**
 * How a part is evaluated: by the library, or by us where the library is not exact, not linear, or ignores keys such as `constructor`.
 * Needs the types that a check has left in the part.
 */
export function evaluationOf(node: LibraryNode): Evaluate {
  const { alternate, macro } = node.meta;
  const call = callOf(node);
  const [field] = call?.name === 'has' && call.receiver === undefined ? call.args : [];
  if (field !== undefined) return presence(field);
  if (alternate !== undefined) return (evaluator, scope) => alternate.evaluate(evaluator, alternate, scope);
  if (macro !== undefined) return (evaluator, scope) => macro.evaluate(evaluator, macro, scope);
  const byLibrary: Evaluate = (evaluator, scope) => node.meta.evaluate(evaluator, node, scope);
  switch (node.op) {
    case 'map':
      return mapOf(node.args as [LibraryNode, LibraryNode][]);
    case '.':
    case '[]':
    case '.?':
    case '[?]':
      return access(node);
    case '==':
      return operands(node, (left, right) => isEqual(left, right));
    case '!=':
      return operands(node, (left, right) => !isEqual(left, right));
    case 'in':
      return operands(node, (value, container) => {
        if (Array.isArray(container) || container instanceof Map) return isMember(value, container);
        throw new CelFailure('wrong_type', 'in: the right side is no list and no map.');
      });
    case '+':
      return sum(node);
    case '-':
      return operands(node, (left, right, evaluator) => {
        const times = timesOf(left, right);
        return times === undefined ? handle(node, left, right, evaluator) : difference(...times);
      });
    case '/':
    case '-_': {
      return (evaluator, scope) => {
        const value = byLibrary(evaluator, scope);
        return typeof value === 'bigint' ? checkedInt(value) : value;
      };
    }
    case 'call':
    case 'rcall':
      return callFunction(node);
    default:
      return byLibrary;
  }
}

function handle(node: LibraryNode, left: unknown, right: unknown, evaluator: LibraryEvaluator): unknown {
  return node.handle(left, right, node, evaluator);
}

function operands(
  node: LibraryNode,
  apply: (left: unknown, right: unknown, evaluator: LibraryEvaluator) => unknown,
): Evaluate {
  const right = node.right as LibraryNode;
  return (evaluator, scope) => apply(evaluator.run(node.left, scope), evaluator.run(right, scope), evaluator);
}

/** `has(a.b)`: whether `a` has the field; null and the fields of a null record are absent. */
function presence(field: LibraryNode): Evaluate {
  const [owner, name] = field.args as [LibraryNode, string];
  return (evaluator, scope) => {
    const found = evaluator.run(owner, scope);
    const value = found instanceof Optional ? found.orValue(undefined) : found;
    if (value === undefined) return false;
    if (value instanceof Map) return value.has(name);
    throw new CelFailure('wrong_type', `has: the value is no object, so it has no field "${name}".`);
  };
}

/** Keys of a literal stay as they are written; the library makes texts of them and leaves out `constructor`. */
function mapOf(entries: readonly (readonly [LibraryNode, LibraryNode])[]): Evaluate {
  return (evaluator, scope) => {
    const map = new Map<unknown, unknown>();
    for (const [keyNode, valueNode] of entries) {
      const key = keyOf(evaluator.run(keyNode, scope));
      if (!['string', 'bigint', 'boolean'].includes(typeof key))
        throw new CelFailure('wrong_type', 'A key of a map is a string, an integer or a bool.');
      if (map.has(key)) throw new CelFailure('invalid_argument', 'A key is in the map twice.');
      map.set(key, evaluator.run(valueNode, scope));
    }
    return map;
  };
}

/** `a.b` and `a[b]`; `a.?b` and `a[?b]` give an optional, as does the access to an optional. */
function access(node: LibraryNode): Evaluate {
  const { left, right } = node;
  const isOptional = node.op.includes('?');
  return (evaluator, scope) => {
    const owner = evaluator.run(left, scope);
    const key = typeof right === 'string' ? right : evaluator.run(right, scope);
    if (owner instanceof Optional) return owner.hasValue() ? Optional.of(read(owner.value(), key, right)) : owner;
    const value = read(owner, key, right);
    if (isOptional) return Optional.of(value);
    if (value === undefined) {
      const kind = Array.isArray(owner) ? 'index' : owner instanceof TypedRecord ? 'field' : 'key';
      throw new CelFailure('no_such_key', `There is no ${named(kind, right)}.`);
    }
    return value;
  };
}

/** Undefined if there is no such key. Properties of JavaScript are no keys. @throws CelFailure wrong_type for a value that has no keys */
function read(owner: unknown, key: unknown, written: LibraryNode | string): unknown {
  if (owner instanceof Map) return owner.get(keyOf(key));
  if (Array.isArray(owner)) {
    const index = keyOf(key);
    if (typeof index !== 'bigint') throw new CelFailure('wrong_type', 'The index of a list is an integer.');
    return index < 0n || index >= BigInt(owner.length) ? undefined : owner[Number(index)];
  }
  // Constants of the library: `google.protobuf.Timestamp`.
  const prototype: unknown = typeof owner === 'object' && owner !== null ? Object.getPrototypeOf(owner) : undefined;
  if (prototype === Object.prototype && typeof key === 'string' && typeof owner === 'object' && owner !== null)
    return Object.hasOwn(owner, key) ? Reflect.get(owner, key) : undefined;
  throw new CelFailure('wrong_type', `The value has no fields, so there is no ${named('key', written)}.`);
}

/** A key as the expression has it. A computed one has no name: messages have no values of records. */
function named(kind: string, written: LibraryNode | string): string {
  const literal = typeof written === 'string' ? written : written.op === 'value' ? written.args : undefined;
  if (typeof literal === 'string') return `${kind} ${JSON.stringify(literal.slice(0, 100))}`;
  return typeof literal === 'bigint' ? `${kind} ${literal}` : `such ${kind}`;
}

type Time = Date | Duration;

function timesOf(left: unknown, right: unknown): readonly [Time, Time] | undefined {
  return (left instanceof Date || left instanceof Duration) && (right instanceof Date || right instanceof Duration)
    ? [left, right]
    : undefined;
}

function sum(node: LibraryNode): Evaluate {
  return operands(node, (left, right, evaluator) => {
    if (Array.isArray(left) || left instanceof Uint8Array || typeof left === 'string') meter.chargeSizes(left, right);
    if (left instanceof Uint8Array && right instanceof Uint8Array) meter.chargeBytes(left.length + right.length);
    const times = timesOf(left, right);
    return times === undefined ? handle(node, left, right, evaluator) : total(...times);
  });
}

function total(left: Time, right: Time): Time {
  if (left instanceof Duration && right instanceof Duration)
    return durationOf(nanosecondsIn(left) + nanosecondsIn(right));
  if (left instanceof Date && right instanceof Duration) return moved(left, nanosecondsIn(right));
  if (left instanceof Duration && right instanceof Date) return moved(right, nanosecondsIn(left));
  throw new CelFailure('wrong_type', 'Two timestamps have no sum.');
}

function difference(left: Time, right: Time): Time {
  if (left instanceof Date && right instanceof Date)
    return durationOf(BigInt(left.getTime() - right.getTime()) * 1_000_000n);
  if (left instanceof Duration && right instanceof Duration)
    return durationOf(nanosecondsIn(left) - nanosecondsIn(right));
  if (left instanceof Date && right instanceof Duration) return moved(left, -nanosecondsIn(right));
  throw new CelFailure('wrong_type', 'A timestamp cannot be taken from a duration.');
}

function moved(date: Date, nanoseconds: bigint): Date {
  return timestampOf(date.getTime() + Number(nanoseconds / 1_000_000n));
}

/** A function of ours if it knows the values, otherwise that of the library; texts and lists cost by their sizes. */
function callFunction(node: LibraryNode): Evaluate {
  const call = callOf(node);
  const ours = call?.receiver === undefined ? globalCalls.get(call?.name ?? '') : methods.get(call.name);
  const nodes = call?.receiver === undefined ? (call?.args ?? []) : [call.receiver, ...call.args];
  return (evaluator, scope) => {
    const values = nodes.map((argument) => evaluator.run(argument, scope));
    for (const value of values) if (typeof value === 'string') meter.charge(value.length);
    const result =
      ours?.(values) ??
      (node.op === 'call' ? node.handle(values, node, evaluator) : node.handle(values, evaluator, node));
    if (typeof result === 'string') meter.charge(result.length);
    else if (result instanceof Uint8Array) meter.chargeBytes(result.length);
    return result;
  };
}
