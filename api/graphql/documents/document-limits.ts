import { Lexer, Source, TokenKind, type DocumentNode } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import type { AppError } from '#entities/kit/base/errors.ts';
import { limitExceeded } from '#entities/kit/base/input-error.ts';

/** Maximum length of a document in characters; long values belong in variables. */
const maxLength = 50_000;

/** Maximum number of tokens: the time of validation grows with the square of the fields, and each field can cost a statement. */
const maxTokens = 2_000;

/** Maximum nesting of brackets of any sort: parser, validation and execution recurse along it. GraphiQL's own query nests 13. */
const maxDepth = 32;

/** Maximum number of directives: each is evaluated wherever its field is looked at. */
const maxDirectives = 50;

/** Maximum number of cached documents; each can take half a megabyte. */
const maxCached = 100;

/** Parsed documents by their text, so that repeated ones are parsed and validated once. Evicts the oldest one. */
class DocumentCache {
  readonly #documents = new Map<string, DocumentNode>();

  get(text: string): DocumentNode | undefined {
    return this.#documents.get(text);
  }

  set(text: string, document: DocumentNode): void {
    this.#documents.set(text, document);
    const [oldest] = this.#documents.keys();
    if (this.#documents.size > maxCached && oldest !== undefined) this.#documents.delete(oldest);
  }
}

/** Replaces Yoga's caches, which keep 1,000 documents of any size, rejected ones included, and could fill the memory. */
export const documentCaches = () => ({
  documentCache: new DocumentCache(),
  errorCache: { get: () => undefined, set: () => {} },
});

const steps = new Map<string, number>([
  [TokenKind.BRACE_L, 1],
  [TokenKind.BRACKET_L, 1],
  [TokenKind.PAREN_L, 1],
  [TokenKind.BRACE_R, -1],
  [TokenKind.BRACKET_R, -1],
  [TokenKind.PAREN_R, -1],
]);

/** Rejects oversized documents before anything recurses along them. */
export function limitDocuments(): Plugin {
  return {
    onParse({ parseFn, setParseFn }) {
      setParseFn((source, options) => {
        checkDocument(typeof source === 'string' ? new Source(source) : source);
        return parseFn(source, options);
      });
    },
  };
}

/** @throws AppError limit_exceeded, GraphQLError for an invalid token */
export function checkDocument(source: Source): void {
  if (source.body.length > maxLength)
    throw tooMuch(
      `it is longer than ${maxLength} characters: it has ${source.body.length}; pass long values as variables`,
    );
  const lexer = new Lexer(source);
  let depth = 0;
  let directives = 0;
  for (let count = 0; lexer.advance().kind !== TokenKind.EOF; count++) {
    if (count >= maxTokens) throw tooMuch(`it has more than ${maxTokens} tokens; split it`);
    if (lexer.token.kind === TokenKind.AT && ++directives > maxDirectives)
      throw tooMuch(`it has more than ${maxDirectives} directives`);
    depth += steps.get(lexer.token.kind) ?? 0;
    if (depth > maxDepth) throw tooMuch(`it is nested deeper than ${maxDepth} levels`);
  }
}

function tooMuch(reason: string): AppError {
  return limitExceeded(`The GraphQL document is rejected: ${reason}.`, {
    path: '/query',
    message: `is rejected: ${reason}`,
  });
}
