import FlowBase
import FlowEvents
import FlowParts
import FlowPlan
import FlowStore

/// What the journal is told of items and results; it holds no secret, and is JSON from here on.
extension RunStore {
  func record(_ draft: ItemRecordDraft, _ status: FlowStore.ItemStatus, _ fault: Fault?) -> ItemRecord {
    let groups = draft.groups.map {
      StoredFacts.Group(stage: plan.stages[$0.barrier].id, node: nodeNumbers[$0.node], group: $0.group)
    }
    return ItemRecord(
      id: draft.id, source: sourceNumbers[draft.source], key: draft.item.key, index: draft.item.index,
      url: draft.item.url.map { redaction.redact(Redaction.url($0)) }, status: status, run: run,
      fingerprint: draft.fingerprint,
      facts: EndCodec.encode(
        draft.item, draft.end, gathering: gathering, groups: groups, made: draft.made,
        standIns: draft.standIns, redaction: redaction),
      fault: fault)
  }

  func record(_ item: Int, _ draft: ItemRecordDraft.Result, keeps: Bool) -> ResultRecord {
    var kept: ResultRecord.Kept?
    var digest: Digest?
    switch draft.result.content {
    case .file(let file)?:
      digest = file.sha256
      // Of an item that is through, the outputs hold the bytes; of one that is not, they save the next run a transfer.
      // What is gathered later, in this run or the next, must be there then.
      let isGathered = gathered[draft.node] && draft.result.outputs.isEmpty
      // Bytes in memory are put into a file now, if the disk takes them.
      if isGathered || keeps && draft.key != nil, (try? file.path) != nil, let finished = finishedFile(file),
        file.isTemporary
      {
        file.keep()
        kept = ResultRecord.Kept(name: finished.name, bytes: file.bytes, sha256: file.sha256)
      }
    case .bytes, .deferred, nil: break
    }
    return ResultRecord(
      item: item, node: nodeNumbers[draft.node], run: run, parts: draft.key?.parts ?? StoredFields(),
      fields: RunStore.fields(of: draft.result, digest, redaction), kept: kept)
  }

  private static func fields(of result: NodeResult, _ digest: Digest?, _ redaction: Redaction) -> StoredFields {
    var writer = JSONWriter()
    writer.beginObject()
    writer.key("fields")
    writer.value(.map(result.fields), through: redaction)
    if let digest {
      writer.key("sha256")
      writer.string(digest.hex)
    }
    if !result.outputs.isEmpty {
      writer.key("outputs")
      writer.beginArray()
      for output in result.outputs { writer.value(ItemCodec.encode(output)) }
      writer.endArray()
    }
    writer.endObject()
    return StoredFields(json: writer.bytes)
  }

  /// The fields that a node's result had.
  static func fields(of record: ResultRecord) -> Fields? { (try? record.fields.fields())?["fields"]?.asMap }
}
