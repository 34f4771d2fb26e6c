import { isAppError } from '#entities/kit/base/errors.ts';
import { withProblems } from '#entities/kit/base/input-error.ts';
import { snakeCase } from '#entities/kit/base/snake-case.ts';

/**
 * Converts the field names of errors to snake_case, as they are in request bodies.
 * @param body what was sent; names that stand in it stay as they are
 */
export async function inSnakeCase<T>(work: () => Promise<T>, body?: unknown): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!isAppError(error) || !error.details.fields) throw error;
    throw withProblems(
      error,
      error.details.fields.map((problem) =>
        // Problems with a code are about documents, whose keys have their own names.
        problem.code === undefined
          ? { ...problem, path: asSent(problem.path, body), message: withRestNames(problem.message) }
          : { ...problem, path: fieldAsSent(problem.path) },
      ),
    );
  }
}

/** The path into a document: only the field that has it is one of ours. */
function fieldAsSent(path: string): string {
  const [start = '', field = '', ...rest] = path.split('/');
  return path === '' ? path : [start, snakeCase(field), ...rest].join('/');
}

function asSent(path: string, body: unknown): string {
  let within = body;
  const [start, ...parts] = path.split('/');
  const names = parts.map((name) => {
    const isObject = typeof within === 'object' && within !== null;
    const sent = isObject && Object.hasOwn(within as object, name) ? name : snakeCase(name);
    within = isObject ? (within as Record<string, unknown>)[sent] : undefined;
    return sent;
  });
  return [start, ...names].join('/');
}

/** A suggestion, a quoted text, which can be a value that was sent, or a name in camelCase. */
const partPattern = /did you mean "\w+"|"(?:[^"\\]|\\.)*"|\b[a-z][a-z0-9]*(?:[A-Z][a-z0-9]*)+\b/g;

function withRestNames(message: string): string {
  return message.replaceAll(partPattern, (part) => {
    if (part.startsWith('"')) return part;
    const [lead, name] = part.split('"');
    return name === undefined ? snakeCase(part) : `${lead}"${snakeCase(name)}"`;
  });
}
