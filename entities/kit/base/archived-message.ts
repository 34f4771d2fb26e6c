/** Message of the error `organization_archived`. */
export const archivedMessage =
  'The organization is archived, so nothing in it can be changed. Its managers can take that back with PATCH /v1/organizations/{id} {"is_archived": false}.';
