import FlowCLI

await CommandLineTool.main()
