import { Type } from 'typebox';
import { payload } from '../kit/model/events.ts';
import { integer, member, text, timestamp } from '../kit/model/fields.ts';
import type { Refusal } from '../kit/model/behaviour.ts';

const maxCount = Number.MAX_SAFE_INTEGER;

/** Fields of work that a person or an API token starts and that the server does, with the rights that they have while it runs. */
export function transferFields(done: string) {
  return {
    doneRows: integer(`Number of records that are ${done} so far.`, {
      min: 0,
      max: maxCount,
      default: 0,
      exposed: 'read',
    }),
    totalRows: integer('Number of records of the whole work; null until it is known.', {
      min: 0,
      max: maxCount,
      optional: true,
      exposed: 'read',
    }),
    errorCode: text('Code of the error with which the work failed; /docs/errors lists all codes.', {
      max: 100,
      optional: true,
      exposed: 'read',
    }),
    errorMessage: text('Why the work failed.', { max: 20_000, lines: true, optional: true, exposed: 'read' }),
    finishedAt: timestamp('When the work completed, failed or was cancelled.', { optional: true, exposed: 'read' }),
    requestorId: member('Person who started the work; null for an API token.', {
      optional: true,
      immutable: true,
      onLeave: 'keep',
      creator: true,
      exposed: 'read',
    }),
    tokenId: {
      ...text(
        'Id of the API token or personal token with which the work was started, within whose scopes it stays; null for a session.',
        { max: 26, optional: true },
      ),
      credential: true as const,
    },
    runId: text('Id of the workflow run that does the work.', { max: 200, optional: true }),
  };
}

/** Work of one person or API token that can wait or run at the same time: all organizations share the workers that do it. */
const maxUnfinished = 20;

/** Refuses work while too much of the same person or API token has not ended. Of a request that starts several, each counts those before it. */
export function refusedBeyondLimit(table: 'exports' | 'imports'): Refusal<'status'> {
  return {
    on: ['create', 'edit'],
    unlessSystem: true,
    refuseIf: `given.status = 'pending' and row.index + (select count(*) from ${table} as begun where begun.deleted_at is null
      and coalesce(begun.requestor_id, begun.token_id) = coalesce(row.requestor_id, row.token_id) and begun.status in ('pending', 'running')) >= ${maxUnfinished}`,
    field: 'status',
    code: 'limit_exceeded',
    message: `You have ${maxUnfinished} ${table} that have not ended; wait until one has, or cancel one.`,
  };
}

/** `pending` waits for a worker. People cancel work and start it again with the mutations for it. */
export const transferStatuses = ['pending', 'running', 'completed', 'failed', 'cancelled'] as const;

export const recordKindField = {
  ...text('Kind of the records, such as `task`.', {
    max: 64,
    immutable: true,
    exposed: 'read-write',
    lists: ['filter'],
  }),
  naming: 'kind',
} as const;

export const transferEvents = {
  restarted: { description: 'The export or import was restarted.', payload: payload({}) },
  completed: {
    description: 'The export or import has completed.',
    payload: payload({ rows: Type.Integer({ description: 'Number of records.' }) }),
  },
  failed: {
    description: 'The export or import has failed; the record has the error.',
    payload: payload({ code: Type.String({ description: 'Code of the error.' }) }),
  },
};
