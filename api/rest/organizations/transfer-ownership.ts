import { Type } from 'typebox';
import { MessageSchema, idSchema } from '../../http/request-schemas.ts';
import { defineRoute } from '../../http/route.ts';
import { transferOrganization } from '../../people/transfer-organization.ts';

export const transferOwnership = defineRoute({
  method: 'POST',
  url: '/v1/organizations/:id/transfer-ownership',
  operationId: 'transferOwnership',
  tag: 'Organizations',
  summary: 'Transfer the ownership of an organization',
  description:
    'Makes another member an owner of the current organization; the caller, who is an owner, becomes an admin. The caller must have signed in, or called POST /v1/2fa/step-up, within the last ten minutes.',
  access: 'required',
  params: Type.Object({ id: idSchema('Id of the organization.') }),
  body: Type.Object({ user_id: idSchema('Id of the member who becomes an owner.') }, { additionalProperties: false }),
  answers: { 200: MessageSchema },
  errors: ['invalid_input', 'not_found', 'permission_denied', 'step_up_required'],
  handle: async (call) => {
    const transfer = { organizationId: call.params['id'] ?? '', userId: call.body.user_id };
    const { organization } = await transferOrganization(call, transfer, '/user_id');
    const message = `The ownership of ${organization.name} is transferred; you are an admin now.`;
    return { status: 200, body: { message } };
  },
});
