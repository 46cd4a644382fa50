import FlowCLI

CommandLineTool.main()
