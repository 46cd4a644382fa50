public import FlowParts

extension Catalog {
  /// The parts that ship in the box, one line a part.
  public static let builtins: Catalog = {
    var catalog = Catalog()

    catalog.add(DirectorySource.part)
    catalog.add(FileSource.part)
    catalog.add(ScriptSource.part)
    catalog.add(TemplateSource.part)
    catalog.add(URLsSource.part)

    catalog.add(Exec.part)
    catalog.add(Fetch.part)
    catalog.add(Filter.part)
    catalog.add(Report.part)
    catalog.add(Script.part)
    catalog.add(SetFields.part)
    catalog.add(Store.part)
    catalog.add(Verify.part)
    catalog.add(Write.part)

    catalog.add(LogSink.part)
    catalog.add(NDJSONSink.part)
    catalog.add(ProgressSink.part)
    return catalog
  }()
}
