import { getOperationAST, Kind, type DocumentNode } from 'graphql';
import { inputError } from '#entities/kit/base/input-error.ts';
import { found, oneOf } from '#entities/kit/base/schema-problem.ts';
import { asGraphqlError, asRequestError } from '../graphql-errors.ts';

/** @throws GraphQLError when no operation of the document has this name, or one of several has to be named */
export function checkOperationName(document: DocumentNode, name: string | null | undefined): void {
  if (getOperationAST(document, name)) return;
  const names = document.definitions.flatMap((one) =>
    one.kind === Kind.OPERATION_DEFINITION ? [one.name?.value] : [],
  );
  if (names.length === 0) return;
  const message = names.includes(undefined)
    ? 'must be left out, because the operation has no name'
    : oneOf(names.filter((one) => one !== undefined));
  const problem = { path: '/operationName', message: message + found(name ?? undefined) };
  throw asRequestError(asGraphqlError(inputError([problem])));
}
