import { Type } from 'typebox';
import { beginDisconnect } from '#entities/integrations/connections/begin-disconnect.ts';
import { integration } from '#entities/integrations/integration.ts';
import { existingId, missingRecord } from '#entities/kit/model/missing-record.ts';
import { idSchema } from '../../http/request-schemas.ts';
import { requireRight } from '../../integrations/changeable-installation.ts';
import { recordOf } from '../kit/action-parts.ts';
import { defineAction } from '../kit/define-action.ts';

export const disconnectIntegration = defineAction({
  name: 'disconnectIntegration',
  url: '/v1/integrations/:id/disconnect',
  tag: 'Integrations',
  summary: 'Disconnect an integration',
  description:
    'Ends the credential at the other system as far as that system answers, and deletes it here with the endpoints for its events. The integration is deleted with the records that came in; with `keepsRecords`, both stay, and the integration can be connected again.',
  acceptsSingleSignOn: true,
  input: {
    id: idSchema('Id of the record.'),
    keepsRecords: Type.Optional(Type.Boolean({ description: 'Whether the records that came in stay; default: no.' })),
  },
  answer: { integration: recordOf(integration) },
  title: 'DisconnectedIntegration',
  status: 202,
  errors: ['not_found', 'permission_denied'],
  run: async ({ unit }, { id: wanted, keepsRecords = false }) => {
    const id = existingId(integration, wanted);
    const held = await unit.data.findLocked(integration, id);
    if (!held) throw missingRecord(integration, wanted);
    await requireRight(unit, 'edit', held);
    const data = unit.data.privileged('disconnect integration');
    await beginDisconnect({ data, clock: unit.clock }, held, { keepsRecords });
    return { integration: id };
  },
});
