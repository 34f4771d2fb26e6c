import type { Static, TObject } from 'typebox';
import { Compile, type Validator } from 'typebox/schema';
import type { IntegrationDefinition } from '#activities/clients/integrations/definition.ts';
import { filterEnvironment } from '#activities/clients/integrations/filter-environment.ts';
import type { FieldProblem } from '#entities/kit/base/errors.ts';
import { didYouMean } from '#entities/kit/base/did-you-mean.ts';
import { inputError } from '#entities/kit/base/input-error.ts';
import { onceForEach } from '#entities/kit/base/once-for-each.ts';
import { schemaMessage, type SchemaProblem } from '#entities/kit/base/schema-problem.ts';
import { shortened } from '#entities/kit/base/shortened.ts';
import { isStorable } from '#entities/kit/model/input.ts';
import type { Asking } from '../credentials/asking.ts';

type Values = Readonly<Record<string, unknown>>;

/** Names of settings that are filters: expressions (CEL) over the records of the other system. */
const filterName = /(?:^|F|f)ilterExpr$/;

const validatorOf = onceForEach((schema: TObject): Validator => Compile(schema));

/**
 * Settings of an organization for a definition.
 * @throws AppError invalid_input with all problems
 */
export async function checkedUserInput(
  { services }: Pick<Asking, 'services'>,
  definition: IntegrationDefinition,
  given: unknown,
): Promise<Values> {
  const problems = objectProblems(definition.userInput, given, '/userInput', false);
  if (problems.length > 0) throw inputError(problems);
  const values = given as Values;
  const found = [
    ...(definition.problemsOf?.(values as Static<TObject>) ?? []).map(({ path, message }) => ({
      path: `/userInput${path}`,
      message,
      code: 'setting_invalid',
    })),
    ...(await filterProblems(services, values)),
  ];
  if (found.length > 0) throw inputError(found);
  return values;
}

/** A credential that a person enters; the problems do not repeat it. @throws AppError invalid_input */
export function checkedCredential(schema: TObject, given: unknown): Values {
  const problems = objectProblems(schema, given, '/body', true);
  if (problems.length > 0) throw inputError(problems);
  return given as Values;
}

/** Input of an operation. @throws AppError invalid_input */
export function checkedOperationInput(schema: TObject, given: unknown): Values {
  const problems = objectProblems(schema, given, '/input', false);
  if (problems.length > 0) throw inputError(problems);
  return given as Values;
}

/** Their code keeps the names of the definition in them, which are no names of ours. */
function objectProblems(schema: TObject, value: unknown, path: string, isSecret: boolean): FieldProblem[] {
  return schemaProblems(schema, value, path, isSecret).map((problem) => ({ ...problem, code: 'schema_mismatch' }));
}

function schemaProblems(schema: TObject, value: unknown, path: string, isSecret: boolean): FieldProblem[] {
  if (!isStorable(value))
    return [{ path, message: 'contains a value that cannot be stored: a NUL character or a lone surrogate' }];
  const validator = validatorOf(schema);
  if (validator.Check(value)) return [];
  const names = Object.keys(schema.properties);
  return (validator.Errors(value)[1] as SchemaProblem[]).flatMap((problem): FieldProblem[] => {
    const { keyword, instancePath, params } = problem;
    if (keyword === 'required')
      return (params as { readonly requiredProperties: readonly string[] }).requiredProperties.map((name) => ({
        path: `${path}${instancePath}/${name}`,
        message: 'is required',
      }));
    if (keyword === 'additionalProperties')
      return (params as { readonly additionalProperties: readonly string[] }).additionalProperties.map((name) => ({
        path: `${path}${instancePath}/${shortened(name)}`,
        message: `is not known here: ${unknownName(name, names)}`,
      }));
    // The problems of `additionalProperties` are reported once.
    if (keyword === 'boolean') return [];
    return [{ path: `${path}${instancePath}`, message: schemaMessage(problem, { isSecret }) }];
  });
}

function unknownName(name: string, names: readonly string[]): string {
  const near = didYouMean(name, names);
  if (near !== undefined) return `did you mean "${near}"?`;
  return names.length > 0 ? `accepted are ${names.join(', ')}` : 'nothing is accepted';
}

async function filterProblems({ expressions }: Asking['services'], values: Values): Promise<FieldProblem[]> {
  const filters = Object.entries(values).filter(
    ([name, value]) => filterName.test(name) && typeof value === 'string' && value !== '',
  );
  const checked = await Promise.all(
    filters.map(async ([name, expression]): Promise<FieldProblem[]> => {
      const { problems } = await expressions.compile({
        expression: expression as string,
        environment: filterEnvironment,
        expected: 'bool',
      });
      return problems.map(({ message, start }) => ({
        path: `/userInput/${name}`,
        message: `is no filter: ${message} (at character ${start + 1})`,
        code: 'filter_invalid',
      }));
    }),
  );
  return checked.flat();
}
