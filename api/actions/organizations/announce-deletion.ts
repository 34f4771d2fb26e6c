import { organization } from '#entities/organizations/organization.ts';
import { requiresProof } from '../../credentials/required-proof.ts';
import { dayOrInstant, idSchema } from '../../http/request-schemas.ts';
import { announceDeletion, maxAnnouncedDays, withdrawDeletion } from '../../people/announced-deletion.ts';
import { instant, message, selectableRecord } from '../kit/action-parts.ts';
import { defineAction } from '../kit/define-action.ts';

const common = {
  tag: 'Organizations',
  acceptsSingleSignOn: true,
  errors: ['not_found', 'permission_denied', 'rule_violated'],
} as const;

export const announceOrganizationDeletion = defineAction({
  ...common,
  name: 'announceOrganizationDeletion',
  url: '/v1/organizations/:id/announce-deletion',
  summary: 'Announce the deletion of an organization',
  description: `Marks the organization for deletion at \`notBefore\`. It is then deleted as by the owner who has announced it, if they are still an owner, whether it pays or not. Another announcement moves the time. POST /v1/organizations/{id}/keep takes it back. In REST, DELETE /v1/organizations/{id} with \`not_before\` does the same. The announcement ${requiresProof}`,
  input: {
    id: idSchema('Id of the organization.'),
    notBefore: dayOrInstant(
      `When it is deleted: a day, which begins in UTC, or an instant (RFC 3339), at most ${maxAnnouncedDays} days from now.`,
    ),
  },
  answer: {
    organization: selectableRecord(organization),
    deletionNotBefore: instant('When the organization is deleted.'),
  },
  title: 'AnnouncedDeletion',
  status: 202,
  errors: [...common.errors, 'invalid_input', 'step_up_required'],
  run: async (asking, { id, notBefore }) => ({
    organization: id,
    deletionNotBefore: await announceDeletion(asking, id, notBefore, '/notBefore'),
  }),
});

export const keepOrganization = defineAction({
  ...common,
  name: 'keepOrganization',
  url: '/v1/organizations/:id/keep',
  summary: 'Take back the announced deletion of an organization',
  description: 'The organization is not deleted. For its owners.',
  input: { id: idSchema('Id of the organization.') },
  answer: { organization: selectableRecord(organization), message },
  run: async (asking, { id }) => {
    const { name, id: organizationId } = await withdrawDeletion(asking, id);
    return { organization: organizationId, message: `${name} is not deleted.` };
  },
});
