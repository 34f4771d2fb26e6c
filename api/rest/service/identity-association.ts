import { Type } from 'typebox';
import { AppError } from '#entities/kit/base/errors.ts';
import { defineRoute } from '../../http/route.ts';

const path = '/.well-known/microsoft-identity-association.json';

/** The identity platform reads it to accept the domain of this server as that of the publisher of its apps. */
export const identityAssociation = defineRoute({
  method: 'GET',
  url: path,
  operationId: 'getIdentityAssociation',
  tag: 'Service',
  summary: 'Apps whose publisher has this domain',
  description:
    'Names the apps of the operator (`integrations.directoryservice.applicationid`, `integrations.teamchat.applicationid`), so that the identity platform shows the domain of this server to those who consent. Not found while none is configured.',
  access: 'anonymous',
  limitClass: 'static',
  answers: {
    200: Type.Object(
      {
        associatedApplications: Type.Array(
          Type.Object(
            { applicationId: Type.String({ description: 'Id of an app.' }) },
            { title: 'AssociatedApplication' },
          ),
        ),
      },
      { title: 'IdentityAssociation' },
    ),
  },
  // The platform reads no other type: not with a charset either.
  produces: 'application/json',
  errors: ['not_found'],
  handle: ({ services }) => {
    const { directoryservice, teamchat } = services.config.current.integrations;
    const ids = new Set([directoryservice.applicationid, teamchat.applicationid].filter((id) => id !== ''));
    if (ids.size === 0)
      throw new AppError(
        'not_found',
        'No app is configured; the operator sets integrations.directoryservice.applicationid or integrations.teamchat.applicationid.',
      );
    const association = { associatedApplications: [...ids].map((applicationId) => ({ applicationId })) };
    return { status: 200, document: Buffer.from(JSON.stringify(association)) };
  },
});
