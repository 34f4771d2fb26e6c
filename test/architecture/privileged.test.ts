import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/**
 * Where work is done past the rules, and why it may. Whoever adds a line says why the caller's own rights cannot decide.
 * `privileged` acts within a caller's request, `system` as the server itself.
 */
const listed: Readonly<Record<string, readonly string[]>> = {
  // Credentials are read and renewed for the server alone; the adapters that use them act for no person.
  'activities/clients/integrations/provider-access.ts': [`system 'use integration'`],
  // The rate of an account belongs to no organization: several may have connected it.
  'activities/clients/integrations/account-rate.ts': [`system 'rate of an account'`],
  'activities/integrations/connections-activities.ts': [`system 'disconnect integration'`],
  'activities/integrations/lifecycle-activities.ts': [`system 'sweep integrations'`],
  'activities/integrations/provisioning/provision-accounts.ts': [`system 'provision from directory'`],
  'activities/integrations/provisioning/provisioning-activities.ts': [`system 'provision from directory'`],
  // Only the server writes statuses and credentials; each request checks before that the caller may edit the integration.
  'api/actions/integrations/configure-integration.ts': [`privileged 'connect integration'`],
  'api/actions/integrations/request-disconnect.ts': [`privileged 'disconnect integration'`],
  'api/integrations/changeable-installation.ts': [
    `privileged 'connect integration'`,
    `privileged 'connect integration'`,
    `privileged 'connect integration'`,
  ],
  // The browser comes back without a request of ours: the person who began is read from the state, and their rights are checked again.
  'api/rest/integrations/auth-callback.ts': ['system reason', 'privileged reason'],
  // The token of the endpoint proves the identity provider, which is no person.
  'api/rest/integrations/scim/scim-sender.ts': [
    `system 'find directory'`,
    `system 'write pushed directory', webhook.organizationId`,
  ],
  // People who change a record may have no right to see who proposed the same before.
  'entities/automation/gates/open-proposals.ts': [`privileged 'hold a change'`],
  'runtime/warn-of-idle-gates.ts': [`system 'find idle gates'`],
  // Nobody is signed in yet: a person, an organization and the first membership are made together.
  'api/rest/identity/account/register.ts': [`privileged 'sign-up'`],
  // Checks count although they refuse.
  'api/rest/identity/account/check-new-email.ts': [`system 'check e-mail address'`],
  // The holder of a mailed token acts as its person, signed in or not; passwords are counted although they are refused.
  // The reasons are 'confirm address', 'reset password', 'confirm e-mail change' and 'reactivate account'.
  'api/rest/identity/account/redeem-link.ts': ['system reasons[purpose]', 'privileged reasons[purpose]'],
  // The answer is the same whether there is such a person, so it is looked for past the rules.
  'api/rest/identity/account/resend.ts': [`privileged 'resend verification'`],
  // The person is found by their address before anybody is signed in; failures count although the request is refused.
  'api/rest/identity/account/login.ts': [`privileged 'sign-in'`, `system 'sign-in'`],
  // Whoever has proven who they are is not signed in yet: the account is read and locked past the rules.
  'api/rest/identity/account/complete-sign-in.ts': [`privileged 'complete sign-in'`],
  // Sessions are the server's to begin, to extend and to end; their owners only delete them.
  'api/rest/identity/account/begin-session.ts': [`privileged 'sign-in'`],
  // Before the person acts in an organization, none of its rules apply to them.
  'api/rest/identity/account/home-organization.ts': [`privileged 'find home organization'`],
  // Authentication is off: nobody has proven who they are, so the person is chosen before any rule applies.
  'api/rest/identity/account/first-person.ts': [`system 'authentication is off'`],
  'api/rest/identity/account/refresh.ts': [`privileged 'refresh'`],
  // Only the server writes what the payment provider is told; owners decide that it is.
  // A person who asked is refused or answered; the customer is read in either case.
  'api/actions/billing/cancel-subscription.ts': [`system 'cancel or resume', organizationId`],
  'api/actions/billing/open-checkout.ts': [
    `privileged 'open checkout'`,
    `system 'open checkout', order.organizationId`,
  ],
  // Targets name people whom the caller need not see; whoever tries a definition may change it.
  'api/actions/automation/try-definition.ts': [`privileged 'try workflow definition'`],
  'activities/automation/dry-run-activities.ts': [`system 'dry run', organizationId`],
  // Only the server writes versions; whoever publishes may change the definition.
  'api/actions/automation/publish-definition.ts': [
    `privileged 'publish workflow definition'`,
    `privileged 'publish workflow definition'`,
  ],
  // Whoever joins a group does not manage it; the settings of the group let them in, and those who decide do not see requests of others.
  'api/actions/groups/join-group.ts': [`privileged 'join group'`],
  'api/actions/groups/list-join-requests.ts': [`privileged 'list join requests'`],
  'api/actions/groups/decide-join-request.ts': [`privileged 'decide join request'`],
  'api/actions/groups/withdraw-join-request.ts': [`privileged 'withdraw join request'`],
  'api/people/join-requests.ts': [`privileged 'lock join request'`],
  // Only the server writes instances, assignments and proposals; each action says which person may do it.
  'api/people/workflow-work.ts': [`privileged 'act on workflow'`],
  // Whoever holds the mailed token may know what has become of it.
  'api/rest/identity/account/check-mailed-link.ts': [`privileged 'check mailed link'`],
  'api/rest/identity/account/logout.ts': [`privileged 'sign-out'`],
  'api/rest/identity/account/switch.ts': [`privileged 'switch organization'`],
  // Passwords are set after a proof that no rule knows: the current password, or a mailed link.
  // Before, the names that a password must not hold are read in a unit of its own: no password is judged or hashed within a transaction.
  'api/rest/identity/account/change-password.ts': [`system 'check password'`, `privileged 'change password'`],
  'api/rest/identity/account/current-password.ts': [`system 'check password'`, `system 'check password'`],
  // Second factors are changed after a proof that no rule knows: a code. Codes count although they are refused.
  'api/rest/identity/second-factor/accept-code.ts': [`system 'count codes'`, `privileged 'second factor'`],
  'api/rest/identity/second-factor/confirm.ts': [`privileged 'confirm second factor'`],
  // A session of single sign-on does not see the token, which it may authorize for its organization alone.
  'api/credentials/authorize-token.ts': [`privileged 'authorize token'`],
  'api/credentials/confirmed-factor.ts': [`privileged 'second factor'`],
  'api/rest/identity/second-factor/disable.ts': [`privileged 'remove second factor'`],
  'api/rest/identity/second-factor/give-recovery-codes.ts': [`privileged 'give recovery codes'`],
  'api/credentials/recent-proof.ts': [`privileged 'recent proof'`, `privileged 'recent proof'`],
  'api/rest/identity/second-factor/replace-recovery-codes.ts': [`privileged 'replace recovery codes'`],
  'api/rest/identity/second-factor/setup.ts': [`privileged 'set up second factor'`],
  'api/rest/identity/second-factor/step-up.ts': [`privileged 'step up'`, `privileged 'step up'`],
  'api/rest/identity/account/forgot-password.ts': [`privileged 'forgot password'`],
  // As with passwords: the password, a mailed link, or both are the proof. What is looked for may belong to anybody.
  // Requests for the new address may be those of somebody else; they are looked for before the password is compared, outside the transaction.
  'api/rest/identity/own-account/change-email.ts': [
    `system 'change e-mail address'`,
    `privileged 'change e-mail address'`,
  ],
  'api/rest/identity/own-account/deactivate-account.ts': [`privileged 'deactivate account'`],
  'api/rest/identity/own-account/delete-account.ts': [`privileged 'delete account'`],
  // The certificate belongs to the server, not to a caller.
  'api/http/tls/certificate-rows.ts': [`system 'certificate'`],
  // The field is hidden from colleagues, so nobody reads or writes it by the rules.
  'api/rest/identity/own-account/userinfo.ts': [`privileged 'read own account'`],
  'api/rest/identity/own-account/default-organization.ts': [`privileged 'set default organization'`],
  // Who comes back from a provider is known by its word alone; the identity and a new account are stored before anybody is signed in.
  'api/rest/identity/providers/provider-flow.ts': [`system 'provider sign-in'`],
  'api/rest/identity/providers/person-of-identity.ts': [`system 'provider sign-in'`],
  // The link was asked for by a session; no rule lets people choose their identities.
  'api/rest/identity/providers/provider-routes.ts': [`privileged 'provider sign-in'`, `privileged 'link identity'`],
  'api/rest/identity/providers/identity-routes.ts': [`privileged 'unlink identity'`],
  // Members are made by their first single sign-on, before any rule applies to them; the client secret is read for it. Refusals and
  // guesses count although they are refused.
  'api/rest/identity/single-sign-on/organization-provider.ts': [`system 'single sign-on'`],
  // The support identity is no member and no user; a manager may not write the record that binds them.
  'api/rest/identity/delegations/begin-delegation.ts': [`privileged 'begin delegation'`],
  'api/rest/identity/delegations/end-delegation.ts': [`privileged 'end delegation'`],
  'api/rest/identity/delegations/start-impersonation.ts': [`privileged 'impersonate'`],
  'api/rest/identity/delegations/support-callback.ts': [`privileged 'begin delegation'`],
  // The consent is read before anybody is signed in; attempts count although they are refused.
  'api/rest/identity/delegations/support-login.ts': [`system 'support sign-in'`, `system 'support sign-in'`],
  'api/rest/identity/single-sign-on/single-sign-on-routes.ts': [`privileged 'single sign-on'`],
  // Whether somebody is a member is read before they are signed in.
  'api/rest/identity/single-sign-on/newcomers.ts': [`privileged 'single sign-on'`],
  // Nobody may create it with scopes and organizations that were not checked.
  // The organization is locked while its tokens are counted, also by managers who are members of one above it.
  // A token without a list of organizations works in all that the person has joined.
  'api/credentials/issue-tokens.ts': [
    `privileged 'count tokens'`,
    `privileged 'create personal token'`,
    `privileged 'organizations of a token'`,
  ],
  // Passkeys are made and used after a proof that no rule knows; challenges are used up although the request is refused.
  'api/rest/identity/passkeys/passkey-requests.ts': [`system 'use passkey challenge'`],
  'api/rest/identity/passkeys/registration-verification.ts': [`privileged 'register passkey'`],
  'api/rest/identity/passkeys/authentication-verification.ts': [`privileged 'sign-in with passkey'`],
  // Whoever holds the mailed token is invited, and has no role in the organization yet; the inviter's rights are checked.
  'api/rest/organizations/show-invite.ts': [`privileged 'show invitation'`],
  'api/rest/organizations/accept-invite.ts': [`privileged 'accept invitation'`],
  'api/rest/organizations/decline-invite.ts': [`privileged 'decline invitation'`],
  // Whoever holds the mailed token of a subscriber is nobody the organization knows; unsubscribing works in archived ones, too.
  'api/rest/organizations/verify-subscriber.ts': [`privileged 'verify subscriber'`],
  'api/rest/notifications/unsubscribe.ts': [`system 'unsubscribe'`],
  // People see, of all organizations, what concerns their own address alone.
  'api/rest/identity/own-account/own-suppressions.ts': [`system 'own suppressions'`],
  // An operator of the installation, at its command line; no role of an organization concerns accounts.
  'tools/commands/address-commands.ts': [`system 'operator of addresses'`],
  // An operator of the installation, who reads and repairs the deliveries of all organizations.
  'tools/commands/event-commands.ts': [`system 'operator of events'`],
  'runtime/event-repairs.ts': [`system 'operator of events'`],
  // An operator of the installation, who reads, retries and stops the failing work of all organizations.
  'tools/commands/work-commands.ts': [`system 'operator of work'`],
  'runtime/work-repairs.ts': [`system 'operator of work'`],
  // Owners decide about the deletion; only the server writes the mark.
  'api/people/announced-deletion.ts': [
    `privileged 'announce deletion'`,
    `privileged 'announce deletion'`,
    `privileged 'announce deletion'`,
  ],
  'activities/organizations/delete-announced-organization.ts': [
    `system 'delete announced organization'`,
    `privileged 'delete announced organization'`,
  ],
  // An operator of the installation, who postpones and spares the deletions of all organizations.
  'runtime/lifecycle-operations.ts': [`system 'lifecycle of operators'`],
  // Whoever can start the programs of the installation says who operates it; no role of an organization does.
  'tools/commands/operator-commands.ts': [`system 'operators'`],
  // An operator of the installation, at its command line, reads how far backfills are.
  'tools/commands/backfill-commands.ts': [`system 'operator of backfills'`],
  // An operator of the installation, at its command line, grants modules that nobody pays for.
  'tools/commands/billing-commands.ts': [`system 'billing of operators'`],
  'tools/commands/billing-list.ts': [`system 'billing of operators'`],
  // Another system has proven with its secret who it is; what follows from its events is up to listeners.
  'api/rest/webhooks/configured-sender.ts': [`system 'receive event'`],
  'api/actions/integrations/steer-run.ts': [
    `privileged 'confirm integration run'`,
    `privileged 'steer integration run'`,
  ],
  'api/rest/integrations/integration-webhook.receiver.ts': [`system 'receive event'`],
  'api/rest/organizations/register-invited.ts': [
    `system 'sign-up with invitation'`,
    `privileged 'sign-up with invitation'`,
  ],
  // Its founder has no role in it before the first membership is there.
  'api/actions/organizations/create-organization.ts': [`privileged 'create organization'`],
  // It creates an organization, as above.
  'api/actions/organizations/create-onboarding.ts': [`privileged 'answer onboarding'`],
  // Tuples, events and their batches are the machine's and belong to all organizations.
  'relay/tuples/tuple-relay.ts': [`system 'tuple relay'`],
  // Objects of all organizations are counted for the operator.
  'runtime/ensure-storage.ts': [`system 'count objects'`],
  // Bytes of objects belong to no record; who may have them was decided before.
  'activities/clients/storage/providers/database-provider.ts': [`system 'object chunks'`],
  'activities/clients/storage/providers/open-provider.ts': [`system 'storage'`],
  // Reads that records have changed, for all organizations; what is in them is read as each subscriber.
  'relay/changes/change-feed.ts': [`system 'change feed'`],
  'relay/outbox/relay.ts': [`system 'relay'`],
  'relay/due-work/due-work-relay.ts': [`system 'due work'`],
  'tools/commands/verify.ts': [`system 'verify'`],
  // Counts the failing work of all organizations, for the operator.
  'tools/commands/failing-work-lines.ts': [`system 'verify'`],
  // What waits of all organizations is counted, for metrics.
  'runtime/metrics/backlog-gauges.ts': [`system 'count backlog'`],
  // An operator asks how many files of all organizations have copies.
  'tools/commands/file-commands.ts': [`system 'file commands'`],
  // Deliveries belong to all organizations; a listener acts for the server, restricted to the organization of the event.
  'activities/events/listener-transaction.ts': [
    'system `listener ${listener.name}`, organizationId',
    `system 'event delivery'`,
  ],
  // Wakes belong to the workflows of all organizations.
  'activities/events/workflow-starts.ts': [`system 'event delivery'`],
  // Stored bytes are the machine's: their rows say whose they are, and records decide who reads them.
  'activities/files/storage-work.ts': [`system 'storage'`],
  // What is due to an endpoint is the machine's; records are read with the rights of its scopes.
  'activities/webhooks/send-messages.ts': [`system 'webhooks', target.organizationId`],
  // Messages to the operator of the installation name people of all organizations.
  'activities/notifications/chat-activities.ts': [`system 'system messages', organizationId`],
  // What an export or an import has done is the server's to say; its records are read and written with the rights of its person.
  'activities/transfers/transfer-work.ts': [`system 'transfers'`, `privileged 'complete transfer'`],
  // Records of other systems are the server's to write, and so is what is known of runs; whoever requests a run was allowed to.
  'entities/integrations/runs/request-run.ts': [`privileged 'request integration run'`],
  'entities/integrations/runs/end-run.ts': [`privileged 'end integration run'`],
  'activities/integrations/runs/run-work.ts': [`system 'integration runs'`],
  // An instance of a workflow is the server's; its actions have the rights of the person who published its definition.
  'activities/automation/instance-work.ts': ['system reason, organizationId'],
  // Nobody asked for what a new organization gets after it is there.
  'activities/organizations/organizations-activities.ts': [`system 'set up organization', organizationId`],
  // Nobody is a member yet; the settings of the organization and the zone of the domain admit them.
  'activities/organizations/admit-newcomer.ts': [`system 'admit by domain'`],
  // Nobody has a right to what is left of a deleted organization.
  'activities/removals/disconnect-integrations.step.ts': [`system 'remove organization'`],
  'activities/removals/removal-activities.ts': [`system 'remove organization'`],
  'activities/removals/removal-slice.ts': [`system 'remove organization'`],
  // Operators alone undo a deletion; nobody has a right to what is restored yet.
  'activities/removals/restoration-activities.ts': [`system 'undelete organization'`],
  'runtime/undelete-organization.ts': [`system 'undelete organization'`],
  // The payment provider decides what an organization may use; nobody asks for it.
  'activities/billing/reconcile-organization.ts': [`system 'billing'`],
  'activities/billing/cancel-subscriptions.ts': [`system 'remove organization'`],
  // A sweep acts for the server, on records of all organizations.
  'activities/sweeps/sweep-page.ts': ['system `sweep ${sweep.name}`'],
  // A backfill gives records of all organizations what a new release needs; nobody asks for it.
  'activities/backfills/backfill-activities.ts': [`system 'backfill'`],
  'activities/backfills/backfill-page.ts': [`system 'backfill'`],
  // Partitions have no organization.
  'activities/maintenance/maintenance-activities.ts': [`system 'prune records'`],
  // Which activities and workflows fail is the machine's to note, whoever began them.
  'activities/kit/failing-work-notes.ts': [`system 'failing work'`],
  'activities/maintenance/reconcile-work.ts': [`system 'failing work'`],
  // Encrypts again what is encrypted; no record changes.
  'activities/maintenance/reseal-secrets-page.ts': [`system 'reseal secrets'`],
  // Compares the rows of all organizations with the authorization store.
  'activities/authorization/authorization-activities.ts': [`system 'reconcile authorization'`],
  // What is due belongs to people of all organizations; what each is told is read with their rights.
  'activities/notifications/notifications-activities.ts': [`system 'send notifications'`],
  // Reads what a mail is made of, in a transaction that is read-only; records that an invitation was sent.
  'activities/email/email-activities.ts': [
    `system 'send e-mail', input.organizationId ?? null`,
    `system 'release address', organizationId ?? null`,
  ],
};

const folders = ['api', 'relay', 'runtime', 'tools', 'worker', 'activities', 'workflows', 'entities'];

/** SQL of the tables of one area. */
const rowsFile = /^entities\/[a-z-]+\/[a-z-]+-rows\.ts$/;

function sources(): string[] {
  return folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts'))
      .map((file) => join(folder, file))
      .filter((file) => !file.startsWith('entities/kit/') && !rowsFile.test(file)),
  );
}

const withoutComments = (source: string) => source.replaceAll(/\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*$/gm, '');
const withoutImports = (source: string) => source.replaceAll(/^(?:import|export)\s[^;]*?from '[^']+';$/gm, '');

/** Code without comments, and without the lines that import. */
function code(file: string): string {
  return withoutImports(withoutComments(readFileSync(join(root, file), 'utf8')));
}

test('every use of work past the rules is listed, with its reason', () => {
  const found = sources().flatMap((file): [string, string[]][] => {
    const calls = [...code(file).matchAll(/\b(privileged|systemCaller)\(((?:`[^`]*`|[^)])*)\)/g)];
    const uses = calls.map(([, name, reason]) => `${name === 'privileged' ? name : 'system'} ${reason}`);
    return uses.length > 0 ? [[file, uses]] : [];
  });
  expect(Object.fromEntries(found)).toEqual(listed);
});

/** Rooms of entities/kit whose functions act on rows; those of `read` only write statements, which take a session to be sent. */
const actingRooms = 'storage|access|outbox|due-work|write|unit';

/** What others may import from these rooms and from the rows of areas, and why it gives no way past the rules. Types are free. */
const harmless: Readonly<Record<string, readonly string[]>> = {
  // The unit of work and its data client are made here; `listed` has who acts past the rules with them.
  'unit/database.ts': ['Database'],
  // Each of these does one thing, with a statement of its own, and takes no rule, role or SQL from outside.
  'unit/explanation.ts': ['explain', 'isFrozen'],
  'unit/answers.ts': ['unlessHidden'],
  // Read with the rights of a data client.
  'unit/list-pages.ts': ['listOfRecord', 'pageOfList'],
  'unit/shown-records.ts': ['shownRecords'],
  'access/assumed-principal.ts': ['AssumedPrincipal', 'readWatchedPrincipal'],
  // No records: the certificate of the server.
  'access/automatic-certificates.ts': [
    'continueOrder',
    'endOrder',
    'holdOrder',
    'keepResealed',
    'readCertificateRow',
    'releaseOrder',
  ],
  // Ids of people whom the server notifies of a deletion.
  'organizations/deletion-audience-rows.ts': ['peopleOfDeletion'],
  // What follows from billing; they read nothing.
  'access/entitled.ts': ['applies', 'entitled', 'isLapsed', 'requiresPaymentMethod'],
  'access/email-lock.ts': ['lockEmail'],
  // When announced deletions are due; the settings of the organization decide.
  'organizations/announced-deletion-rows.ts': ['endAnnouncedDeletion', 'setAnnouncedDeletion'],
  // Former values of the record that a workflow is about, without secret ones.
  'automation/record-version-rows.ts': ['recordVersions'],
  // The values and groups that a record had when it was deleted, without secret values, for workflows about its deletion.
  'unit/record-rows.ts': ['rowOfRecord', 'rowsOfRecords'],
  'automation/shared-group-rows.ts': ['groupsOfRecord'],
  // Reads history for a dry run, which managers ask for.
  'automation/past-change-rows.ts': ['countPastChanges', 'pastChanges'],
  // Lets definitions be published one after the other; a backfill asks who never had one.
  'automation/publishing-rows.ts': ['lockPublishing', 'organizationsWithoutDefinitions'],
  'organizations/first-organization-rows.ts': ['firstOrganization'],
  'organizations/held-module-rows.ts': ['heldModules'],
  // Ids of records that a backfill looks at.
  'organizations/backfill-rows.ts': [
    'knownEntityTypes',
    'membershipsAfter',
    'organizationsAfter',
    'organizationsWithoutBilling',
    'ownersOfSettings',
    'settingsAfter',
  ],
  'access/installation-operators.ts': ['grantOperator', 'isOperator', 'listOperators', 'revokeOperator'],
  // Workflows that are woken when a person leaves or joins, or a record is shown to others; they are read past the rules, because the
  // membership or the share may be deleted.
  'automation/asked-people-rows.ts': ['instancesAsking', 'instancesOfShared', 'unattendedInstances'],
  'identity/last-seen-rows.ts': ['noteSeen'],
  // Progress of runs and when integrations are read, as the server observes them; limits of accounts at other systems.
  'integrations/account-rate-rows.ts': ['pruneAccountRates', 'pauseAccount', 'takeAccountSlot'],
  'integrations/lapse-rows.ts': ['integrationsOfLapse'],
  // Which process renews a credential; integrations that are due, for the sweep and a backfill.
  'integrations/refresh-lease-rows.ts': ['endRefreshLease', 'takeRefreshLease'],
  'integrations/due-integration-rows.ts': [
    'dueIntegrations',
    'endOfStoredCredential',
    'pendingWithoutExpiry',
    'stillWithoutExpiry',
  ],
  // Integrations of a deleted organization, of all organizations that use one account, and of a person who has left.
  'integrations/connected-integration-rows.ts': ['connectedIntegrations', 'isAccountShared'],
  'integrations/responsible-person-rows.ts': ['integrationsLeftBy'],
  // The identity provider reads and writes the whole directory that it pushes, and no other.
  'integrations/directory-page-rows.ts': [
    'directoryPage',
    'groupsOfAccounts',
    'knownAccounts',
    'membersOfGroups',
    'membershipsOfGroup',
  ],
  // Accounts from which memberships follow.
  'integrations/provisioning-rows.ts': [
    'accountToProvision',
    'accountsToProvision',
    'directoriesAwaiting',
    'groupsNamed',
    'isProvisioning',
    'isGivingMemberships',
  ],
  'integrations/run-progress-rows.ts': ['addRemoved', 'addToPass', 'noteRunError', 'notePage', 'restartPass'],
  'integrations/run-sighting-rows.ts': [
    'pruneSightings',
    'countUnseen',
    'forgetSightings',
    'noteSightings',
    'sightedBefore',
    'unseenRecords',
  ],
  'integrations/secret-use-rows.ts': ['noteSecretUse'],
  'integrations/sync-time-rows.ts': ['noteArrival', 'noteSync'],
  'integrations/last-event-rows.ts': ['noteLastEvent'],
  'integrations/received-event-rows.ts': ['removeReceivedEvents'],
  // Of all organizations, for operators.
  'organizations/organization-removal-rows.ts': ['listRemovals', 'organizationsOfRemoval', 'removalsBegun'],
  // Facts that decide about the deletion of organizations, for sweeps and operators.
  'organizations/lifecycle-rows.ts': ['lifecycleCandidates', 'lifecycleFacts', 'markedOrganizations'],
  'access/later-caller.ts': ['readLaterCaller'],
  'access/request-keys.ts': ['reserveRequest', 'keepAnswer'],
  'identity/surplus-session-rows.ts': ['surplusSessions'],
  'access/principal-state.ts': [
    'callerIn',
    'callerOfDelegation',
    'callerOfToken',
    'readDelegationState',
    'readMembershipState',
    'readPrincipalState',
  ],
  'access/membership-states.ts': ['readMembershipStates'],
  'access/token-use.ts': ['recordTokenUse'],
  'access/single-sign-on.ts': [
    'decidingMembership',
    'isMembershipLive',
    'isSignOnCurrent',
    'noSignOn',
    'readEntry',
    'wasMember',
  ],
  // Ids and documents of published versions, locks of proposals, and the number of organizations that have gates.
  'automation/gate-rows.ts': ['countGatedOrganizations', 'lockOpenProposals', 'readGateVersions'],
  // The hash that a password is compared with.
  'identity/sign-in-credential-rows.ts': ['readSignInCredential'],
  'access/sign-in-failures.ts': ['forgetAttempt', 'giveBackAttempt', 'takeAttempt', 'takeAttemptApart'],
  // As the owner of both databases, for an operator, who gets to know which rows differ and not what is in them.
  'storage/second/second-database-hook.ts': ['SecondDatabaseHook'],
  // What a deletion has deleted, for operators who undo it.
  'write/restore-deleted.ts': ['restoreAll', 'restoredKinds', 'restorePage'],
  // Ciphertexts alone, which it makes.
  'write/reseal.ts': ['resealPage', 'sealedPlaces'],
  // Numbers alone.
  'outbox/backlog.ts': ['readBacklog'],
  // Ids of records that have changed, and no values.
  'outbox/record-changes.ts': ['readRecordChanges'],
  'outbox/feed-position.ts': ['includes', 'snapshotOf'],
  // Rows of the machine, which have no rules.
  'outbox/deliveries.ts': [
    'blockedRecords',
    'dueEvents',
    'endDelivery',
    'failingAmong',
    'firstOpen',
    'insertDeliveries',
    'lockRecords',
    'noteFailure',
    'orphanedHolds',
    'readDelivery',
    'staleFailing',
  ],
  'outbox/partition-indexes.ts': ['lockPartitionIndex', 'partitionIndexes', 'reindexPartition'],
  'outbox/workflow-wakes.ts': [
    'endWakes',
    'hastenWake',
    'keepWakes',
    'overdueWakes',
    'postponeWakes',
    'wakeComparison',
  ],
  // Of all organizations for operators, of their own one for its managers.
  'outbox/delivery-list.ts': [
    'countDeliveries',
    'deliveryStates',
    'listDeliveries',
    'parsePosition',
    'positionText',
    'readEvent',
  ],
  // Rows of the machine: which work of all organizations fails, for operators alone, and that it was noted, ended or removed.
  'outbox/failing-work.ts': [
    'endFailure',
    'endFailures',
    'noteFailures',
    'oldestFailures',
    'pruneFailures',
    'shownAttempts',
    'touchFailures',
    'unknownFailures',
    'workKinds',
  ],
  'outbox/failing-work-list.ts': ['countFailingWork', 'listFailingWork', 'parseWorkPosition', 'workPosition'],
  // Keys and organizations of rows that a declaration names, for the server's own work; numbers for operators.
  'due-work/due-rows.ts': ['claimDueWork', 'organizationOrNone', 'overdueLines', 'readWaitingRows', 'wakeRow'],
  'due-work/define-due-work.ts': ['defineDueWork', 'pauseAfter'],
  'outbox/request-trace.ts': ['readRequestTrace'],
  'outbox/delivery-repairs.ts': ['pruneRepairs', 'recordRepair', 'skipHeld', 'takeForRepair'],
  'outbox/listener-states.ts': [
    'failingListeners',
    'giveBackHeld',
    'heldListeners',
    'isListenerHeld',
    'noteListenerFailure',
    'noteListenerSuccess',
    'noteProbe',
    'recordsToProbe',
    'releaseListener',
    'waitingListeners',
  ],
  // Pages of a document that a run writes, by the id of the run.
  'transfers/export-page-rows.ts': [
    'exportPosition',
    'keepExportPage',
    'pruneLeftPages',
    'readExportPage',
    'removeExportPages',
  ],
  // Contradictions between rows, for operators.
  'email/email-comparison-rows.ts': ['emailComparison'],
  'webhooks/webhook-comparison-rows.ts': ['endpointComparison'],
  'notifications/notification-comparison-rows.ts': ['digestComparison', 'sendingComparison'],
  // Only kinds that a function of the database names, and of those only what is old.
  'outbox/old-records.ts': ['pruneRecords'],
  'notifications/system-message-rows.ts': ['beginSystemMessage', 'noteSystemMessage', 'pruneSystemMessages'],
  'webhooks/webhook-share-rows.ts': ['takeShare'],
  'outbox/desired-tuples.ts': ['lockUnapplied', 'markApplied'],
  'outbox/outbox.ts': [
    'claimBatch',
    'maintainPartitions',
    'partitionMaintenance',
    'readBatch',
    'settleBatch',
    'unfinishedBatches',
  ],
  'webhooks/webhook-queue-rows.ts': [
    'claimDueEndpoints',
    'claimMessages',
    'forgetEndpoint',
    'keepMessages',
    'lockQueue',
    'nextDue',
    'saveQueue',
    'settleAttempts',
  ],
  // Ends what may not be sent any more of one endpoint, which the caller has just changed.
  'webhooks/withheld-message-rows.ts': ['withholdMessages'],
  // Ids, dates and time zones of open tasks of all organizations, for the schedule; listeners tell the people with their own rights.
  // Differences between rows, for operators.
  'automation/instance-comparison-rows.ts': ['instanceComparison'],
  'billing/entitlement-comparison-rows.ts': ['entitlementComparison'],
  'integrations/integration-comparison-rows.ts': ['integrationComparison'],
  'organizations/lifecycle-comparison-rows.ts': ['lifecycleComparison'],
  'work/task-reminder-rows.ts': ['addReminder', 'dueTasks', 'pruneReminders', 'reminderComparison'],
  // What is sent of notifications is the server's; what each person is told is read with their rights.
  'notifications/notification-digest-rows.ts': [
    'addDigests',
    'changeDigest',
    'failUnknownDigests',
    'keyOf',
    'lockDigest',
  ],
  'notifications/notification-sending-rows.ts': [
    'addSendings',
    'changeSendings',
    'claimDueSendings',
    'dueSendingsOf',
    'gatheredMs',
    'lockCollected',
    'lockSending',
    'pruneSendings',
  ],
  // Of one endpoint, which the caller sees or may change.
  'webhooks/webhook-message-rows.ts': [
    'addMessage',
    'lockEndpointsOf',
    'messageStates',
    'pruneMessages',
    'readAttempts',
    'readMessages',
    'replayMessages',
    'unblockEndpoint',
  ],
  'outbox/tuple-repair.ts': [
    'applyAgain',
    'repairMissing',
    'repairOrphaned',
    'settledPage',
    'tombstone',
    'unexpectedAmong',
  ],
  // These read and write no rows of kinds, or compare them for an operator.
  'storage/read-installation.ts': ['readInstallation'],
  'write/change-behaviour.ts': ['canHold'],
  'write/change-counters.ts': ['checkRowCount', 'maxRows'],
  // Links of a record that the caller creates in the same step; their other side is checked like every reference.
  'write/creations.ts': ['linksAsChildren'],
  'write/custom-events.ts': ['customEvent'],
  // It opens a value of a row that was read by the rules.
  'write/sealed-values.ts': ['openSealedValue'],
  // They take records of deleted organizations alone.
  // Followers of records, as the kinds say.
  'write/consequences.ts': ['alignFollowers'],
  'write/remove-contents.ts': ['countContents', 'removeSomeContents'],
  'write/comparison/inconsistencies.ts': ['comparisonsOf', 'nameOf'],
};

/** Members of a unit of work that act without rules. */
const unruled = [
  'em',
  'readAs',
  'rowsAsSystem',
  'runAsSystem',
  'insert',
  'update',
  'changeRows',
  'changeInOneStatement',
  'readInOneStatement',
] as const satisfies readonly (keyof UnitOfWork)[];

/** Ways past the rules in a file outside entities/kit. @param source with its imports */
function waysPast(source: string): string[] {
  const commentless = withoutComments(source);
  const text = withoutImports(commentless);
  const imported = [
    ...commentless.matchAll(
      new RegExp(
        `^(?:import|export) (?!type\\b)([^;']*?) from '(?:[^']*/kit/(?=(?:${actingRooms})/)|(?:#entities|\\.)/(?=[a-z-]+/[a-z-]+-rows\\.ts'))([^']+)';`,
        'gm',
      ),
    ),
  ].flatMap(([, names = '', module = '']) =>
    names
      .replaceAll(/[{}]/g, '')
      .split(',')
      .map((name) => name.trim().replace(/ as .*/, ''))
      .filter((name) => name !== '' && !name.startsWith('type ') && !harmless[module]?.includes(name))
      .map((name) => `${name} of ${module}`),
  );
  const ways = [
    // Named without being called, it would go on under another name.
    /\b(?:privileged|systemCaller)\b(?!\()/g,
    /\bnew (?:DataClient|UnitOfWork|Transaction)\b|\bTransaction\.begin\b|kind: 'system'/g,
    // A path outside the imports is one that is imported at run time.
    new RegExp(`/kit/(?:${actingRooms})/|#entities/[a-z-]+/[a-z-]+-rows`, 'g'),
    // Everything has an update: that of a unit of work is known by what it is called on.
    new RegExp(`\\b(?:\\w*[uU]nit|unitOfWork\\([^)]*\\))[!?]?\\.(?:${unruled.join('|')})\\b`, 'g'),
    new RegExp(`[.{,]\\s*(?:${unruled.filter((name) => name !== 'update').join('|')})\\b(?!:)`, 'g'),
    new RegExp(`\\{[^{}]*\\b(?:${unruled.join('|')})\\b[^{}]*\\} = [\\w.]*[uU]nit\\b`, 'g'),
  ];
  return [...imported, ...ways.flatMap((way) => text.match(way) ?? [])];
}

test('there is no other way past the rules', () => {
  const offences = sources().flatMap((file) =>
    waysPast(readFileSync(join(root, file), 'utf8')).map((way) => `${file}: ${way}`),
  );
  expect(offences).toEqual([]);
});

test.each([
  `import { queryOutsideTransaction } from '#entities/kit/storage/one-round-trip.ts';`,
  `import { pipelinedRead } from '#entities/kit/storage/one-round-trip.ts';`,
  `import {\n  checkRowCount,\n  createRecords,\n} from '#entities/kit/write/create-records.ts';`,
  `import { lockDigestOf } from '#entities/notifications/notification-digest-rows.ts';`,
  `const rows = await import('#entities/work/task-reminder-rows.ts');`,
  `import { type Stamp, updateRows as change } from '#entities/kit/write/update-rows.ts';`,
  `import * as rows from '../kit/write/update-rows.ts';`,
  `export { changeSet } from '#entities/kit/write/change-set.ts';`,
  `import { ok } from './ok.ts';\nimport { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';`,
  `const { updateRows } = await import('#entities/kit/write/update-rows.ts');`,
  `await call.unit.insert('system', rows);`,
  `await unit.update('system', module, row, change);`,
  `await database.unitOfWork(context).update('system', module, row, change);`,
  `await work.changeRows(changes);`,
  `const { update } = context.unit;`,
  `const { readInOneStatement } = work;`,
  `await unit.readInOneStatement({ text: 'select 1', values: [] });`,
  `const session = await unit.readAs('system');`,
  `await unit.runAsSystem('select 1');`,
  `const all = unit.em.find(user, {});`,
  `const caller = { ...given, kind: 'system' };`,
  `const work = new DataClient(unit, caller);`,
  `const act = data.privileged;`,
])('a way past the rules is found: %s', (source) => {
  expect(waysPast(`${source}\n`)).not.toEqual([]);
});

test.each([
  `import type { Session } from '#entities/kit/storage/sql.ts';`,
  `import { customEvent, type Draft } from '#entities/kit/write/custom-events.ts';`,
  `await unit.data.update(user, id, values);\nhash.update(text);`,
  `const { data } = call.unit;`,
])('what follows the rules is not one: %s', (source) => {
  expect(waysPast(`${source}\n`)).toEqual([]);
});

test('every member of a unit of work is known either to follow the rules or not to', () => {
  const ruled =
    'abandon actAs actor afterCommit changedTuples clock commit emit endPart flush onBehalfOf options origin plans recordOutsideRequest registry rollback serialize state statements';
  const members = Object.getOwnPropertyNames(UnitOfWork.prototype).filter((name) => name !== 'constructor');
  expect(members.toSorted()).toEqual([...ruled.split(' '), ...unruled].toSorted());
});

/** Where statements are sent outside entities/kit, and why no unit of work does it. */
const statements: Readonly<Record<string, string>> = {
  'relay/outbox/wake-up.ts': 'NOTIFY and LISTEN belong to no transaction',
};

test('no statement is sent, and no entity manager used, outside entities/kit', () => {
  const ways =
    /\.query\(|\.execute\(|\breadAs\(|\b(?:rows|run)AsSystem\(|\.em\b|\borm\b|\bnative(?:Insert|Update|Delete)|\bcreateQueryBuilder|\bupsert(?!SearchAttributes\()/;
  const found = sources().filter((file) => ways.test(code(file)));
  expect(found).toEqual(Object.keys(statements));
});
