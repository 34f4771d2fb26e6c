export { groupJoinRequest } from './group-join-request.ts';
export { groupMembership } from './group-membership.ts';
export { groupSetting } from './group-setting.ts';
export { group } from './group.ts';
