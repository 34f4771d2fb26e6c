import { Type } from 'typebox';
import { notificationTemplate } from '#entities/notifications/notification-template.ts';
import { organization } from '#entities/organizations/organization.ts';
import { organizationSetting } from '#entities/organizations/organization-setting.ts';
import { AppError } from '#entities/kit/base/errors.ts';
import { deniedMessage } from '#entities/kit/model/denied-message.ts';
import { validateCreations } from '#entities/kit/model/input.ts';
import { isManager } from '#entities/presets/roles.ts';
import { previewNotification } from '#runtime/preview-notification.ts';
import { fieldOf } from '../kit/action-parts.ts';
import { defineAction } from '../kit/define-action.ts';

/** Shows what a template makes before it is saved. */
export const previewNotificationTemplate = defineAction({
  name: 'previewNotificationTemplate',
  url: '/v1/notification-templates/preview',
  tag: 'Notification templates',
  summary: 'Preview a notification template',
  description:
    'Renders a template with sample values and the brand of the organization, for its managers. Nothing is stored or sent.',
  acceptsSingleSignOn: true,
  input: {
    topic: fieldOf(notificationTemplate, 'topic'),
    subjectTemplate: fieldOf(notificationTemplate, 'subjectTemplate'),
    bodyTemplate: fieldOf(notificationTemplate, 'bodyTemplate'),
  },
  answer: {
    subject: Type.String({ description: 'Subject.' }),
    text: Type.String({ description: 'The e-mail as plain text.' }),
    html: Type.String({ description: 'The e-mail as HTML.' }),
  },
  errors: ['invalid_input', 'permission_denied'],
  run: async ({ unit, services }, input) => {
    const { organizationId, role } = unit.context.caller;
    if (organizationId === null || !isManager(role))
      throw new AppError(
        'permission_denied',
        deniedMessage(notificationTemplate, { operation: 'create', caller: unit.context.caller }),
      );
    validateCreations([{ module: notificationTemplate, input, path: '' }]);
    const held = await unit.data.findOne(organization, { id: { eq: organizationId } });
    const settings = await unit.data.findOne(organizationSetting, { organizationId: { eq: organizationId } });
    return previewNotification(
      { ...input, name: `“${held?.name ?? ''}”`, theme: settings?.emailTheme ?? 'modern' },
      { config: services.config.current, at: unit.clock.now() },
    );
  },
});
