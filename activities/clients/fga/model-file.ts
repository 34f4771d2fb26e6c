import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { errors, transformer, validator } from '@openfga/syntax-transformer';
import { ConfigurationError, type Problem } from '#config/schema/config-problem.ts';
import type { Config } from '#config/objects/root.ts';
import { modelDifferences } from './model-differences.ts';
import type { WrittenModel } from './written-model.ts';

type Field = 'authz.modelfile' | 'authz.modulefile';

/**
 * The model that is written to the store: the derived one, or that of `authz.modelfile` (the store's language, or JSON) or
 * `authz.modulefile` (a list of modules, schema 1.2). Such a file says all that the derived model says, and may say more.
 * With `authz.modelid` nothing is written, so no file is read.
 * @throws ConfigurationError for a file that cannot be read, that is no model, or that lacks or changes what is derived
 */
export async function modelToWrite(
  { modelfile, modulefile, modelid }: Config['authz'],
  derived: WrittenModel,
): Promise<WrittenModel> {
  if (modelid !== '' || (modelfile === '' && modulefile === '')) return derived;
  const [field, file] =
    modelfile === '' ? (['authz.modulefile', modulefile] as const) : (['authz.modelfile', modelfile] as const);
  const model = await (modelfile === '' ? readModules(file) : readModel(file));
  const differences = modelDifferences(derived, model);
  if (differences.length > 0)
    throw new ConfigurationError(
      differences.map(({ name, expected, found }) => ({
        where: file,
        path: field,
        reason: `${name} must be "${expected}", ${found === undefined ? 'but the file lacks it' : `not "${found}"`}`,
        remedy: 'start from entities/authorization.fga and only add to it',
      })),
    );
  return model;
}

async function readModel(file: string): Promise<WrittenModel> {
  const text = await read(file, 'authz.modelfile');
  return parsed(file, 'authz.modelfile', () =>
    text.trimStart().startsWith('{') ? (JSON.parse(text) as WrittenModel) : transformer.transformDSLToJSONObject(text),
  );
}

/** Names of modules are relative to the file that lists them; the list may not lead out of its folder. */
async function readModules(file: string): Promise<WrittenModel> {
  const field = 'authz.modulefile';
  const text = await read(file, field);
  const { schema, contents } = reported(file, field, () => transformer.transformModFileToJSON(text));
  const reads = await Promise.allSettled(
    contents.value.map(async ({ value: name }) => ({ name, contents: await read(join(dirname(file), name), field) })),
  );
  const unreadable = reads.flatMap((read) => (read.status === 'rejected' ? [read.reason as ConfigurationError] : []));
  if (unreadable.length > 0) throw new ConfigurationError(unreadable.flatMap(({ problems }) => problems));
  const modules = reads.flatMap((read) => (read.status === 'fulfilled' ? [read.value] : []));
  return parsed(file, field, () => transformer.transformModuleFilesToModel(modules, schema.value));
}

async function read(file: string, field: Field): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    throw refusal(file, field, `cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unknown'})`);
  }
}

function parsed(file: string, field: Field, parse: () => WrittenModel): WrittenModel {
  return reported(file, field, () => {
    const model = parse();
    if (!Array.isArray(model.type_definitions)) throw new TypeError('it has no type_definitions');
    validator.validateJSON({ ...model, id: '' });
    return model;
  });
}

/** @throws ConfigurationError with every error that the reader of models found */
function reported<T>(file: string, field: Field, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof errors.BaseMultiError)) {
      const what = error instanceof Error ? error.message : String(error);
      throw refusal(file, field, `is not an authorization model: ${oneLine(what)}`);
    }
    // The package counts lines from zero.
    const problems = (error.errors as errors.BaseError[]).map(({ line, msg, file: module }) =>
      problem(
        `${module ? join(dirname(file), module) : file}${line ? `:${line.start + 1}` : ''}`,
        field,
        `is not an authorization model: ${oneLine(msg)}`,
      ),
    );
    throw new ConfigurationError(problems);
  }
}

const oneLine = (text: string): string => text.trim().replaceAll(/\s+/g, ' ');

function refusal(file: string, field: Field, reason: string): ConfigurationError {
  return new ConfigurationError([problem(file, field, reason)]);
}

function problem(where: string, path: Field, reason: string): Problem {
  const remedy = 'correct the file, name another one, or leave the field empty for the derived model';
  return { where, path, reason, remedy };
}
