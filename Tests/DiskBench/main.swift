import Linux

// disk-bench site DIRECTORY SCALE
// disk-bench stage store|read|over DIRECTORY ENTRIES SCALE
// disk-bench client serve RUNTIME-DIRECTORY ENTRIES SCALE
// disk-bench plain store|serve DIRECTORY ENTRIES SCALE
//
// Prints one JSON object; scripts/disk-bench makes a table of several.
let arguments = CurrentProcess.arguments

func makeSite(_ directory: String, _ images: Images) throws {
    let folder = try FileDescriptor.openDirectory(directory)
    for index in 0..<Images.sizeCount {
        let file = try folder.open("\(index)", [.writeOnly, .create, .truncate], mode: 0o644)
        try file.writeAll(images.file(ofClass: index))
    }
}

func metrics(
    _ side: String, _ step: String, _ directory: String, _ entries: Int, _ images: Images
) throws -> [String: Double] {
    switch (side, step) {
    case ("stage", "store"):
        let stage = try StageSide(directory, images, entries: entries)
        defer { stage.stop() }
        return try Measurement.store(stage, entries)
    case ("stage", "read"):
        let open = { try StageSide(directory, images, entries: entries) }
        return try Measurement.serve(open, entries, trims: false)
    case ("stage", "over"):
        let stage = try StageSide(directory, images, entries: entries)
        return try Measurement.storeOver(stage, entries)
    case ("client", "serve"):
        let open = { try ClientSide(directory, images) }
        return try Measurement.serve(open, entries, trims: true)
    case ("plain", "store"):
        return try Measurement.store(PlainSide(directory, images, entries: entries), entries)
    case ("plain", "serve"):
        let open = { try PlainSide(directory, images, entries: entries) }
        return try Measurement.serve(open, entries, trims: true)
    default: throw BenchFailure("see scripts/disk-bench")
    }
}

do {
    guard let scale = arguments.last.flatMap({ Double($0) }) else {
        throw BenchFailure("no scale")
    }
    let images = Images(scale: scale)
    if arguments.first == "site", arguments.count == 3 {
        try makeSite(arguments[1], images)
        CurrentProcess.end(0)
    }
    guard arguments.count == 5, let entries = Int(arguments[3]) else {
        throw BenchFailure("see scripts/disk-bench")
    }
    var metrics = try metrics(arguments[0], arguments[1], arguments[2], entries, images)
    let peak = try ProcessMemory.peakBytes(of: CurrentProcess.processID)
    metrics["\(arguments[1])_peak_mb"] = Double(peak) / 1e6
    let members = metrics.sorted { $0.key < $1.key }.map { "\"\($0.key)\": \($0.value)" }
    print("{\(members.joined(separator: ", "))}")
} catch {
    Measurement.log("disk-bench: \(error)")
    CurrentProcess.end(1)
}
