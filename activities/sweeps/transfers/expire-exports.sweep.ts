import { export as exportKind } from '#entities/index.ts';
import { firstIdAt } from '#entities/kit/base/ids.ts';
import { transferQueue } from '#workflows/transfers/transfer-input.ts';
import { defineSweep } from '../define-sweep.ts';

const firstId = firstIdAt(new Date(0));

export const expireExportsSweep = defineSweep({
  name: 'expireExports',
  description: 'Removes the documents of exports whose time is over.',
  queue: transferQueue,
  every: 3_600_000,
  find: ({ data }, { now, limit, after: [after = firstId] = [], only }) =>
    data.find(exportKind, {
      where: {
        status: { eq: 'completed' },
        expiresAt: { lte: now },
        id: only === undefined ? { gt: after } : { eq: only },
      },
      limit,
    }),
  lock: ({ data }, id) => data.findLocked(exportKind, id),
  decide: ({ status, expiresAt }, { now }) =>
    status === 'completed' && expiresAt !== null && expiresAt <= now
      ? { action: 'expire', reason: 'its time is over' }
      : { action: null, reason: 'its time is not over' },
  act: async ({ data }, { id }) => {
    await data.update(exportKind, id, { content: null, status: 'expired' });
  },
});
