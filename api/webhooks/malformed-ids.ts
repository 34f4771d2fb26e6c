import { isId } from '#entities/kit/base/ids.ts';
import { inputError } from '#entities/kit/base/input-error.ts';
import { notAnId } from '#entities/kit/base/schema-problem.ts';

/** A text that is no id names no event: an empty answer would hide the mistake. @param ids by their paths @throws AppError invalid_input */
export function refuseMalformedIds(ids: Readonly<Record<string, string | undefined>>): void {
  const wrong = Object.entries(ids).filter(([, id]) => id !== undefined && !isId(id));
  if (wrong.length > 0) throw inputError(wrong.map(([path, id]) => ({ path, message: notAnId(id, []) })));
}
