import { endRun } from '#entities/integrations/runs/end-run.ts';
import { directorySyncRun } from '#entities/integrations/directory-sync-run.ts';
import { integrationRun } from '#entities/integrations/integration-run.ts';
import { AppError } from '#entities/kit/base/errors.ts';
import { isManager } from '#entities/presets/roles.ts';
import type { RowOf } from '#entities/kit/model/define.ts';
import { existingId, missingRecord } from '#entities/kit/model/missing-record.ts';
import { customEvent } from '#entities/kit/write/custom-events.ts';
import type { Asking } from '../../credentials/asking.ts';
import { idSchema } from '../../http/request-schemas.ts';
import { recordOf } from '../kit/action-parts.ts';
import { defineAction } from '../kit/define-action.ts';

const common = {
  tag: 'Integration runs',
  acceptsSingleSignOn: true,
  input: { id: idSchema('Id of the record.') },
  answer: { integrationRun: recordOf(integrationRun) },
  errors: ['not_found', 'permission_denied', 'rule_violated'],
} as const;

export const confirmIntegrationRun = defineAction({
  ...common,
  name: 'confirmIntegrationRun',
  url: '/v1/integration-runs/:id/confirm',
  summary: 'Confirm what one integration run removes',
  description:
    'For owners and admins. A run that would remove more than half of the accounts, groups or memberships of an integration waits until somebody confirms it. It then removes at most as many records as `pendingRemovals` says.',
  run: async (asking, { id }) => {
    const run = await lockedRun(asking, id);
    if (run.status !== 'waiting') throw wrongStatus(`The run is ${run.status}, so it waits for no confirmation.`);
    const { unit } = asking;
    const data = unit.data.privileged('confirm integration run');
    const confirmed = await data.update(integrationRun, run.id, { status: 'running' });
    const pass = await data.findOne(directorySyncRun, { runId: { eq: run.id } });
    if (pass) await data.update(directorySyncRun, pass.id, { status: 'running' });
    unit.emit(customEvent(integrationRun, 'confirmed', confirmed, {}));
    return { integrationRun: run.id };
  },
});

export const cancelIntegrationRun = defineAction({
  ...common,
  name: 'cancelIntegrationRun',
  url: '/v1/integration-runs/:id/cancel',
  summary: 'Cancel one integration run',
  description:
    'For owners and admins. Records that came in stay, and nothing is removed. Refused if the run has already ended.',
  run: async (asking, { id }) => {
    const run = await lockedRun(asking, id);
    if (run.endedAt !== null) throw wrongStatus(`The run has ended already: it is ${run.status}.`);
    await endRun(asking.unit, run, { status: 'cancelled' });
    return { integrationRun: run.id };
  },
});

/** @throws AppError not_found; permission_denied for those who only view runs */
async function lockedRun({ unit }: Asking, id: string): Promise<RowOf<typeof integrationRun>> {
  const seen = await unit.data.findOne(integrationRun, { id: { eq: existingId(integrationRun, id) } });
  if (!seen) throw missingRecord(integrationRun, id);
  if (!isManager(unit.context.caller.role))
    throw new AppError(
      'permission_denied',
      'Only owners and admins of the organization confirm and cancel runs of integrations.',
    );
  const run = await unit.data.privileged('steer integration run').findLocked(integrationRun, id);
  if (!run) throw missingRecord(integrationRun, id);
  return run;
}

function wrongStatus(message: string): AppError {
  return new AppError('rule_violated', message, { details: { fields: [{ path: '/status', message }] } });
}
