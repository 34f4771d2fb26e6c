/** Attributes of resources (RFC 7643, section 7), as the schemas endpoint shows them. */
export interface ScimAttribute {
  readonly name: string;
  readonly type: 'string' | 'boolean' | 'complex' | 'reference' | 'binary';
  readonly multiValued: boolean;
  readonly description: string;
  readonly required: boolean;
  readonly caseExact: boolean;
  readonly mutability: 'readWrite' | 'readOnly' | 'immutable' | 'writeOnly';
  readonly returned: 'default' | 'always' | 'never' | 'request';
  readonly uniqueness: 'none' | 'server' | 'global';
  readonly canonicalValues?: readonly string[];
  readonly referenceTypes?: readonly string[];
  readonly subAttributes?: readonly ScimAttribute[];
}

export interface ScimSchema {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly attributes: readonly ScimAttribute[];
}

type Options = Partial<Omit<ScimAttribute, 'name' | 'description' | 'type' | 'subAttributes'>>;

function attribute(
  type: ScimAttribute['type'],
  name: string,
  description: string,
  options: Options = {},
  subAttributes?: readonly ScimAttribute[],
): ScimAttribute {
  return {
    name,
    type,
    multiValued: false,
    description,
    required: false,
    caseExact: false,
    mutability: 'readWrite',
    returned: 'default',
    uniqueness: 'none',
    ...options,
    ...(subAttributes ? { subAttributes } : {}),
  };
}

const text = (name: string, description: string, options: Options = {}) =>
  attribute('string', name, description, options);
const flag = (name: string, description: string) => attribute('boolean', name, description);
const complex = (name: string, description: string, parts: readonly ScimAttribute[], options: Options = {}) =>
  attribute('complex', name, description, options, parts);

/** A list of values with a sort, one of which can be the primary one. */
function values(name: string, description: string, what: string, types: readonly string[] = []): ScimAttribute {
  return complex(
    name,
    description,
    [
      text('value', what),
      text('display', 'Name that is shown for the value.'),
      text('type', 'Sort of the value.', types.length > 0 ? { canonicalValues: types } : {}),
      flag('primary', 'Whether it is the preferred value.'),
    ],
    { multiValued: true },
  );
}

export const userSchema: ScimSchema = {
  id: 'urn:ietf:params:scim:schemas:core:2.0:User',
  name: 'User',
  description: 'Account of a person in the directory.',
  attributes: [
    text('userName', 'Name with which the person signs in; unique in the directory, whatever its case.', {
      required: true,
      uniqueness: 'server',
    }),
    complex('name', 'Parts of the name.', [
      text('formatted', 'Whole name.'),
      text('familyName', 'Family name.'),
      text('givenName', 'Given name.'),
      text('middleName', 'Middle name.'),
      text('honorificPrefix', 'Title before the name.'),
      text('honorificSuffix', 'Suffix after the name.'),
    ]),
    text('displayName', 'Name that is shown.'),
    text('nickName', 'Casual name.'),
    attribute('reference', 'profileUrl', 'Address of a page about the person.', {
      referenceTypes: ['external'],
      caseExact: true,
    }),
    text('title', 'Title at work.'),
    text('userType', 'Relation to the organization.'),
    text('preferredLanguage', 'Preferred language.'),
    text('locale', 'Locale.'),
    text('timezone', 'Time zone.'),
    flag('active', 'Whether the person can sign in. A person who cannot loses the membership that the directory gave.'),
    text('password', 'Accepted and not kept.', { mutability: 'writeOnly', returned: 'never' }),
    values('emails', 'E-mail addresses. The primary one, or the first, identifies the person.', 'Address.', [
      'work',
      'home',
      'other',
    ]),
    values('phoneNumbers', 'Telephone numbers.', 'Number.', ['work', 'home', 'mobile', 'fax', 'pager', 'other']),
    values('ims', 'Addresses for instant messages.', 'Address.'),
    complex(
      'photos',
      'Addresses of pictures.',
      [
        attribute('reference', 'value', 'Address.', { referenceTypes: ['external'], caseExact: true }),
        text('display', 'Name that is shown for the value.'),
        text('type', 'Sort of the picture.', { canonicalValues: ['photo', 'thumbnail'] }),
        flag('primary', 'Whether it is the preferred one.'),
      ],
      { multiValued: true },
    ),
    complex(
      'addresses',
      'Postal addresses.',
      [
        text('formatted', 'Whole address.'),
        text('streetAddress', 'Street and number.'),
        text('locality', 'Town.'),
        text('region', 'State or region.'),
        text('postalCode', 'Postal code.'),
        text('country', 'Country.'),
        text('type', 'Sort of the address.', { canonicalValues: ['work', 'home', 'other'] }),
        flag('primary', 'Whether it is the preferred one.'),
      ],
      { multiValued: true },
    ),
    values('entitlements', 'Entitlements of the person.', 'Entitlement.'),
    values('roles', 'Roles of the person.', 'Role.'),
    complex(
      'x509Certificates',
      'Certificates.',
      [
        attribute('binary', 'value', 'Certificate in base64.', { caseExact: true }),
        text('display', 'Name that is shown for the value.'),
        text('type', 'Sort of the certificate.'),
        flag('primary', 'Whether it is the preferred one.'),
      ],
      { multiValued: true },
    ),
    complex(
      'groups',
      'Groups of the person; they are changed with the groups.',
      [
        text('value', 'Id of the group.', { mutability: 'readOnly' }),
        attribute('reference', '$ref', 'Address of the group.', {
          mutability: 'readOnly',
          referenceTypes: ['Group'],
          caseExact: true,
        }),
        text('display', 'Name of the group.', { mutability: 'readOnly' }),
        text('type', 'Sort of the membership.', { mutability: 'readOnly', canonicalValues: ['direct'] }),
      ],
      { multiValued: true, mutability: 'readOnly' },
    ),
  ],
};

export const enterpriseSchema: ScimSchema = {
  id: 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User',
  name: 'EnterpriseUser',
  description: 'Attributes of people in organizations.',
  attributes: [
    text('employeeNumber', 'Number of the employee.'),
    text('costCenter', 'Cost center.'),
    text('organization', 'Organization.'),
    text('division', 'Division.'),
    text('department', 'Department.'),
    complex('manager', 'Manager of the person.', [
      text('value', 'Id of the manager.'),
      attribute('reference', '$ref', 'Address of the manager.', { referenceTypes: ['User'], caseExact: true }),
      text('displayName', 'Name of the manager.', { mutability: 'readOnly' }),
    ]),
  ],
};

export const groupSchema: ScimSchema = {
  id: 'urn:ietf:params:scim:schemas:core:2.0:Group',
  name: 'Group',
  description: 'Group of the directory.',
  attributes: [
    text('displayName', 'Name of the group.', { required: true }),
    complex(
      'members',
      'Accounts in the group. Groups in groups are not supported.',
      [
        text('value', 'Id of the account.', { mutability: 'immutable' }),
        attribute('reference', '$ref', 'Address of the account.', {
          mutability: 'immutable',
          referenceTypes: ['User'],
          caseExact: true,
        }),
        text('type', 'Sort of the member.', { mutability: 'immutable', canonicalValues: ['User'] }),
        text('display', 'Accepted and not kept.', { mutability: 'readOnly' }),
      ],
      { multiValued: true },
    ),
  ],
};

/** Attributes that every resource has (RFC 7643, section 3.1). */
export const commonAttributes: readonly ScimAttribute[] = [
  attribute('reference', 'schemas', 'Schemas of the resource.', { multiValued: true, caseExact: true }),
  text('id', 'Id of the resource here.', { mutability: 'readOnly', returned: 'always', caseExact: true }),
  text('externalId', 'Id of the resource at the identity provider.', { caseExact: true }),
  complex(
    'meta',
    'Facts about the resource.',
    [
      text('resourceType', 'Type of the resource.'),
      text('created', 'When it was created.'),
      text('lastModified', 'When it was last changed.'),
      text('location', 'Address of the resource.'),
      text('version', 'Version of the resource.'),
    ],
    { mutability: 'readOnly' },
  ),
];
