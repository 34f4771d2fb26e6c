import { Lexer, Source, TokenKind, type DocumentNode } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { AppError } from '#entities/kit/base/errors.ts';

/** Most characters of a document; long values belong into the variables. */
const longest = 50_000;

/** Most tokens: validation takes time by the square of the fields, and each field may cost a statement. */
const maxTokens = 2_000;

/** Deepest nesting of brackets, whichever: parser, validation and execution recurse along it. GraphiQL's own goes to 13. */
const deepest = 32;

/** Most parsed documents that are kept; each may take half a megabyte. */
const maxKept = 100;

/** Documents by their text, so that repeated ones are parsed and validated once. The oldest makes room. */
class KeptDocuments {
  readonly #documents = new Map<string, DocumentNode>();

  get(text: string): DocumentNode | undefined {
    return this.#documents.get(text);
  }

  set(text: string, document: DocumentNode): void {
    this.#documents.set(text, document);
    const [oldest] = this.#documents.keys();
    if (this.#documents.size > maxKept && oldest !== undefined) this.#documents.delete(oldest);
  }
}

/** The protocol layer would keep a thousand documents of any size, refused ones too: nobody may fill the memory with them. */
export const documentCaches = () => ({
  documentCache: new KeptDocuments(),
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

/** Refuses documents that are only there to hurt before anything recurses along them. */
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

/** @throws AppError limit_exceeded, GraphQLError for what is no token */
export function checkDocument(source: Source): void {
  if (source.body.length > longest)
    throw tooMuch(`it is longer than ${longest} characters; send long values as variables`);
  const lexer = new Lexer(source);
  let depth = 0;
  for (let count = 0; lexer.advance().kind !== TokenKind.EOF; count++) {
    if (count >= maxTokens) throw tooMuch(`it has more than ${maxTokens} names and signs; split it`);
    depth += steps.get(lexer.token.kind) ?? 0;
    if (depth > deepest) throw tooMuch(`it is nested deeper than ${deepest} levels`);
  }
}

function tooMuch(reason: string): AppError {
  return new AppError('limit_exceeded', `The GraphQL document is refused: ${reason}.`);
}
