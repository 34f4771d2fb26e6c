import { Optional, ParseError, type Environment } from 'cel-js';
import type { CelLimits } from '../cel-contract.ts';
import type { BoundScope, Checker, LibraryEvaluator, LibraryNode, LibraryType, Scope } from '../library-node.ts';
import { CelFailure } from '../meter.ts';
import { isEqual } from '../equality.ts';
import { durationText } from './duration.ts';
import { formatText } from './format-text.ts';
import { indexBy } from './index-by.ts';
import { globalCalls } from './calls.ts';
import * as text from './text-functions.ts';

/** Receiver of `strings.quote`. */
class StringsNamespace {
  readonly namespace = 'strings';
}

const sync = { async: false };

/** Adds the functions that cel-js does not have. Functions in `calls.ts` replace others. */
export function registerFunctions(environment: Environment, limits: CelLimits): void {
  const add = (signature: string, handler: (...values: never[]) => unknown) =>
    environment.registerFunction(signature, handler as (...values: unknown[]) => unknown, sync);
  add('string.charAt(int): string', text.charAt);
  add('string.replace(string, string): string', text.replace);
  add('string.replace(string, string, int): string', text.replace);
  add('string.reverse(): string', text.reverse);
  environment.registerType('StringsNamespace', StringsNamespace);
  environment.registerConstant('strings', 'StringsNamespace', new StringsNamespace());
  add('StringsNamespace.quote(string): string', (_: StringsNamespace, value: string) => text.quote(value));
  add('string.format(list): string', formatText);
  add('indexBy(list, string): map<string, dyn>', indexBy);
  const [timestamp, duration] = ['google.protobuf.Timestamp', 'google.protobuf.Duration'];
  const converted = (name: string) => (value: unknown) => globalCalls.get(name)?.([value]);
  add(`int(${timestamp}): int`, converted('int'));
  add('int(uint): int', converted('int'));
  add(`string(${timestamp}): string`, converted('string'));
  add(`string(${duration}): string`, durationText);
  add(`timestamp(${timestamp}): ${timestamp}`, converted('timestamp'));
  add(`duration(${duration}): ${duration}`, converted('duration'));
  for (const [operator, compare] of Object.entries(byteOrders))
    environment.registerOperator(`bytes ${operator} bytes`, (one: Uint8Array, other: Uint8Array) =>
      compare(Buffer.compare(one, other)),
    );
  if (!limits.optionaltypes) return;
  environment.registerOperator('optional<V> == optional<V>', isEqual);
  add('OptionalNamespace.ofNonZeroValue(A): optional<A>', (_: unknown, value: unknown) =>
    isZero(value) ? Optional.none() : Optional.of(value),
  );
  environment.registerFunction('optional.optMap(ast, ast): dyn', optionalMacro('optMap', false));
  environment.registerFunction('optional.optFlatMap(ast, ast): dyn', optionalMacro('optFlatMap', true));
}

/** Orders of byte strings, by the order of their first different bytes. */
const byteOrders: Readonly<Record<string, (order: number) => boolean>> = {
  '<': (order) => order < 0,
  '<=': (order) => order <= 0,
  '>': (order) => order > 0,
  '>=': (order) => order >= 0,
};

function isZero(value: unknown): boolean {
  if (Array.isArray(value)) return value.length === 0;
  if (value instanceof Map) return value.size === 0;
  return value === null || value === false || value === '' || value === 0 || value === 0n;
}

interface MacroCall {
  readonly args: readonly [LibraryNode, LibraryNode];
  readonly receiver: LibraryNode;
}

/** `a.optMap(x, f(x))`: the function applied to the value of an optional. @param isFlat the function returns an optional itself */
function optionalMacro(name: string, isFlat: boolean): (call: MacroCall) => unknown {
  return ({ args: [variable, body], receiver }) => {
    if (variable.op !== 'id')
      throw new ParseError({
        code: 'invalid_macro_argument',
        message: `The first argument of ${name} is a name`,
        range: { start: variable.start, end: variable.end },
      });
    return {
      async: false,
      bindCtx: undefined as BoundScope | undefined,
      typeCheck(checker: Checker, macro: { bindCtx?: BoundScope }, scope: Scope): LibraryType {
        const type = checker.check(receiver, scope);
        const inner = type.kind === 'optional' && type.valueType ? type.valueType : checker.getType('dyn');
        macro.bindCtx = scope.forkWithVariable(String(variable.args), inner);
        const result = checker.check(body, macro.bindCtx);
        return isFlat ? result : checker.registry.getOptionalType(result);
      },
      evaluate(evaluator: LibraryEvaluator, { bindCtx }: { bindCtx?: BoundScope }, scope: Scope): unknown {
        const value = evaluator.run(receiver, scope);
        if (!(value instanceof Optional)) throw new CelFailure('wrong_type', `${name}: the receiver is no optional.`);
        if (!value.hasValue() || bindCtx === undefined) return Optional.none();
        const result = evaluator.run(body, bindCtx.reuse(scope).setIterValue(value.value(), evaluator));
        return isFlat ? result : Optional.of(result);
      },
    };
  };
}
