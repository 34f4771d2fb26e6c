import { Type, type Static } from 'typebox';
import { notificationTemplate } from '#entities/notifications/notification-template.ts';
import { organization } from '#entities/organizations/organization.ts';
import { organizationSetting } from '#entities/organizations/organization-setting.ts';
import { AppError } from '#entities/kit/base/errors.ts';
import { deniedMessage } from '#entities/kit/model/denied-message.ts';
import { validateCreations } from '#entities/kit/model/input.ts';
import { isManager } from '#entities/presets/roles.ts';
import { previewNotification } from '#runtime/preview-notification.ts';
import { defineRoute, type Call } from '../../http/route.ts';
import { inSnakeCase } from '../records/in-snake-case.ts';
import { recordNames } from '../records/record-names.ts';
import { valueSchema } from '../records/record-schema.ts';

const { path, tag } = recordNames(notificationTemplate);
const { topic, subjectTemplate, bodyTemplate } = notificationTemplate.fields;

const PreviewSchema = Type.Object(
  {
    topic: Type.Unsafe<string>({ ...valueSchema(topic), description: topic.description }),
    subject_template: Type.Unsafe<string>({
      ...valueSchema(subjectTemplate),
      description: subjectTemplate.description,
    }),
    body_template: Type.Unsafe<string>({ ...valueSchema(bodyTemplate), description: bodyTemplate.description }),
  },
  { title: 'TemplatePreview', additionalProperties: false },
);

/** Shows what a template makes before it is saved. */
export const previewTemplate = defineRoute({
  method: 'POST',
  url: `${path}/preview`,
  operationId: 'previewNotificationTemplate',
  tag,
  summary: 'Preview a notification template',
  description:
    'Renders a template with sample values and the brand of the organization, for its managers. Nothing is stored or sent.',
  access: 'required',
  acceptsSingleSignOn: true,
  body: PreviewSchema,
  answers: {
    200: Type.Object({
      subject: Type.String({ description: 'Subject.' }),
      text: Type.String({ description: 'The e-mail as plain text.' }),
      html: Type.String({ description: 'The e-mail as HTML.' }),
    }),
  },
  errors: ['invalid_input', 'permission_denied'],
  handle: (call: Call<Static<typeof PreviewSchema>>) =>
    inSnakeCase(async () => {
      const { unit, services, body } = call;
      const { organizationId, role } = unit.context.caller;
      if (organizationId === null || !isManager(role))
        throw new AppError(
          'permission_denied',
          deniedMessage(notificationTemplate, { operation: 'create', caller: unit.context.caller }),
        );
      const input = {
        topic: body.topic,
        subjectTemplate: body.subject_template,
        bodyTemplate: body.body_template,
      };
      validateCreations([{ module: notificationTemplate, input, path: '' }]);
      const held = await unit.data.findOne(organization, { id: { eq: organizationId } });
      const settings = await unit.data.findOne(organizationSetting, { organizationId: { eq: organizationId } });
      const shown = previewNotification(
        { ...input, name: `“${held?.name ?? ''}”`, theme: settings?.emailTheme ?? 'modern' },
        { config: services.config.current, at: unit.clock.now() },
      );
      return { status: 200, body: shown };
    }),
});
