import { randomBytes } from 'node:crypto';
import { integrationWebhook } from '#entities/integrations/integration-webhook.ts';
import type { CreationOf } from '#entities/kit/model/define.ts';
import { existingId, missingRecord } from '#entities/kit/model/missing-record.ts';
import type { Asking } from './asking.ts';
import { requireOrganizationProof } from './recent-proof.ts';

export type NewWebhook = Omit<CreationOf<typeof integrationWebhook>, 'secret'>;

/** The id of an endpoint, and its secret, which is shown once. */
export interface IssuedSecret {
  readonly id: string;
  readonly secret: string;
}

/** 256 random bits in the form of Standard Webhooks. */
function newSecret(): string {
  return `whsec_${randomBytes(32).toString('base64')}`;
}

/** @throws AppError invalid_input, not_found, permission_denied, already_exists, step_up_required */
export async function createIntegrationWebhook(asking: Asking, input: NewWebhook): Promise<IssuedSecret> {
  const secret = newSecret();
  const { id } = await asking.unit.data.create(integrationWebhook, { ...input, secret });
  // After the creation, which says why somebody may not create it at all.
  await requireOrganizationProof(asking);
  return { id, secret };
}

/** Replaces the secret; the old one stops working at once. @throws AppError not_found, permission_denied, step_up_required */
export async function rotateIntegrationWebhook(asking: Asking, id: string): Promise<IssuedSecret> {
  const { unit, services } = asking;
  const held = await unit.data.findLocked(integrationWebhook, existingId(integrationWebhook, id));
  if (!held) throw missingRecord(integrationWebhook, id);
  const secret = newSecret();
  await unit.data.update(integrationWebhook, held.id, { secret, rotatedAt: services.clock.now() });
  await requireOrganizationProof(asking);
  return { id: held.id, secret };
}
