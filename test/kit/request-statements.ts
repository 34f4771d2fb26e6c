import type { StatementObserver } from '#entities/kit/storage/transaction.ts';

/** Collects the statements of requests, without those of background work such as the relay of tuples. */
export function requestStatements(texts: string[]): StatementObserver {
  return {
    statement: ({ text, traceparent }) => {
      if (traceparent !== undefined) texts.push(text);
    },
  };
}
