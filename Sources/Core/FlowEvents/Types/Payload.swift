/// What happened: one case a type, each with what is told of it.
public indirect enum Payload: Sendable, Hashable {
  case streamStart(StreamStart)
  case runStart(RunStart)
  case runState(RunStateMove)
  case runProgress(RunProgress)
  case runEnd(RunEnd)
  case sourceEnd(SourceEnd)
  case stageStart(StageStart)
  case stageEnd(StageEnd)
  case barrierStart(BarrierStart)
  case barrierEnd(BarrierEnd)
  case itemStart(ItemStart)
  case itemProgress(ItemProgress)
  case itemRetry(ItemRetry)
  case itemError(EventError)
  case itemEnd(ItemEnd)
  case pluginStart(PluginStart)
  case pluginCrash(PluginCrash)
  case pluginNoise(PluginNoise)
  case output(Output)
  case sinkError(SinkError)
  case sinkDropped(SinkDropped)
  case control(Control)
  case log(LogLine)
  case diagnostic(DiagnosticFound)

  /// The type's name in the stream.
  public var type: EventType {
    switch self {
    case .streamStart: .streamStart
    case .runStart: .runStart
    case .runState: .runState
    case .runProgress: .runProgress
    case .runEnd: .runEnd
    case .sourceEnd: .sourceEnd
    case .stageStart: .stageStart
    case .stageEnd: .stageEnd
    case .barrierStart: .barrierStart
    case .barrierEnd: .barrierEnd
    case .itemStart: .itemStart
    case .itemProgress: .itemProgress
    case .itemRetry: .itemRetry
    case .itemError: .itemError
    case .itemEnd: .itemEnd
    case .pluginStart: .pluginStart
    case .pluginCrash: .pluginCrash
    case .pluginNoise: .pluginNoise
    case .output: .output
    case .sinkError: .sinkError
    case .sinkDropped: .sinkDropped
    case .control: .control
    case .log: .log
    case .diagnostic: .diagnostic
    }
  }
}
