const COMMAND: string[] = __MCP_MEMORY_COMMAND__;
const WITH_TOOLS: boolean = __MCP_MEMORY_WITH_TOOLS__;

export default function () {
	void COMMAND;
	void WITH_TOOLS;
}
