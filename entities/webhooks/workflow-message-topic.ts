/** Topic of messages that actions of workflows send to one endpoint, whatever topics it receives. */
export const workflowMessageTopic = 'workflow_instance.called';
