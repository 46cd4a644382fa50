public import FlowParts

extension Catalog {
  /// The parts that ship in the box, one line a part.
  public static let builtins: Catalog = {
    var catalog = Catalog()

    catalog.add(DirectorySource.part)
    catalog.add(FeedSource.part)
    catalog.add(FileSource.part)
    catalog.add(PageSource.part)
    catalog.add(ScriptSource.part)
    catalog.add(SitemapSource.part)
    catalog.add(TemplateSource.part)
    catalog.add(URLsSource.part)

    catalog.add(Exec.part)
    catalog.add(BlurPicture.part)
    catalog.add(ConvertPicture.part)
    catalog.add(CropPicture.part)
    catalog.add(Dedupe.part)
    catalog.add(Fetch.part)
    catalog.add(Filter.part)
    catalog.add(MonochromePicture.part)
    catalog.add(Montage.part)
    catalog.add(Probe.part)
    catalog.add(Report.part)
    catalog.add(Script.part)
    catalog.add(ResizePicture.part)
    catalog.add(RotatePicture.part)
    catalog.add(RoundCornersPicture.part)
    catalog.add(SetFields.part)
    catalog.add(SharpenPicture.part)
    catalog.add(Store.part)
    catalog.add(TiltShiftPicture.part)
    catalog.add(Unpack.part)
    catalog.add(Verify.part)
    catalog.add(Write.part)

    catalog.add(AutoSink.part)
    catalog.add(GitHubSink.part)
    catalog.add(HTMLSink.part)
    catalog.add(JUnitSink.part)
    catalog.add(LogSink.part)
    catalog.add(MetricsSink.part)
    catalog.add(NDJSONSink.part)
    catalog.add(PageSink.part)
    catalog.add(ProgressSink.part)
    catalog.add(WebhookSink.part)
    return catalog
  }()
}
