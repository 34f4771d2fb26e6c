import { maxProblems, type FieldProblem } from '../../kit/base/errors.ts';

/** A problem of a definition. Its path is a JSON pointer into the document. */
export type DefinitionProblem = FieldProblem & { readonly code: string };

/** Collects problems of one document, up to as many as an answer has. */
export class DefinitionProblems {
  readonly found: DefinitionProblem[] = [];

  add(
    path: string,
    code: string,
    message: string,
    place: { readonly start?: number; readonly end?: number } = {},
  ): void {
    if (this.found.length < maxProblems) this.found.push({ path, code, message, ...place });
  }
}

/** A name as a part of a JSON pointer (RFC 6901). */
export function pointerPart(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}
