internal import CZimg

/// A conversion made ready: filter coefficients, and scratch memory.
///
/// Building takes 0.5 to 3 ms, often more than using it: keep it, or ask `ZimgGraphCache`. One
/// thread at a time.
public struct ZimgGraph: ~Copyable {
    private let pointer: OpaquePointer
    /// What it converts.
    public let conversion: ZimgConversion

    /// Builds the graph.
    ///
    /// - Parameter codePath: one that is available; tests name it, everyone else leaves the choice.
    /// - Throws: `unsupported` where zimg has no such conversion, or sizes are not divisible by the
    ///   subsampling; `outOfMemory`.
    public init(
        _ conversion: ZimgConversion, codePath: ZimgCodePath = .automatic
    ) throws(ZimgError) {
        precondition(codePath.isAvailable, "this processor has no such instructions")
        guard conversion.target.region == nil else {
            throw ZimgError(kind: .unsupported, text: "a region of the target")
        }
        if let region = conversion.source.region, !region.isFinite {
            // zimg takes NaN for "all of it".
            throw ZimgError(kind: .unsupported, text: "a region without a place or size")
        }
        var failure = czimg_failure()
        guard
            let pointer = czimg_build(
                conversion.source.shim, conversion.target.shim, conversion.filter.shim,
                conversion.chromaFilter.shim, codePath.shim, &failure)
        else { throw ZimgError(failure) }
        self.pointer = pointer
        self.conversion = conversion
    }

    deinit {
        czimg_free(pointer)
    }

    /// Bytes of scratch memory that it holds.
    public var scratchBytes: Int { czimg_scratch_bytes(pointer) }

    /// Converts one image.
    ///
    /// - Parameters:
    ///   - sources: one for each plane of the source format.
    ///   - targets: one for each plane of the target format.
    ///   - isCancelled: asked on this thread before each row of the source is read.
    /// - Throws: `cancelled`; `internal` where planes are too small or not aligned (`ZimgPlane`).
    public borrowing func process(
        from sources: [ZimgPlaneSource], to targets: [ZimgPlaneTarget], isCancelled: () -> Bool
    ) throws(ZimgError) {
        var from = try Self.source(sources, format: conversion.source)
        var to = try Self.target(targets, format: conversion.target)
        var failure = czimg_failure()
        let pointer = pointer
        let status = ZimgCancellation.withContext(isCancelled) { context in
            czimg_process(pointer, &from, &to, askWhetherCancelled, context, &failure)
        }
        guard status == CZIMG_FINE else { throw ZimgError(failure) }
    }

    private static func source(
        _ planes: [ZimgPlaneSource], format: ZimgFormat
    ) throws(ZimgError) -> czimg_source {
        try check(format, planes.map { ($0.memory, $0.stride) })
        func base(_ index: Int) -> UnsafePointer<UInt8>? {
            guard planes.indices.contains(index) else { return nil }
            return planes[index].memory.baseAddress?.assumingMemoryBound(to: UInt8.self)
        }
        func stride(_ index: Int) -> Int {
            planes.indices.contains(index) ? planes[index].stride : 0
        }
        return czimg_source(
            base: (base(0), base(1), base(2)), stride: (stride(0), stride(1), stride(2)))
    }

    private static func target(
        _ planes: [ZimgPlaneTarget], format: ZimgFormat
    ) throws(ZimgError) -> czimg_target {
        try check(format, planes.map { (UnsafeRawBufferPointer($0.memory), $0.stride) })
        func base(_ index: Int) -> UnsafeMutablePointer<UInt8>? {
            guard planes.indices.contains(index) else { return nil }
            return planes[index].memory.baseAddress?.assumingMemoryBound(to: UInt8.self)
        }
        func stride(_ index: Int) -> Int {
            planes.indices.contains(index) ? planes[index].stride : 0
        }
        return czimg_target(
            base: (base(0), base(1), base(2)), stride: (stride(0), stride(1), stride(2)))
    }

    private static func check(
        _ format: ZimgFormat, _ planes: [(memory: UnsafeRawBufferPointer, stride: Int)]
    ) throws(ZimgError) {
        let areFit =
            planes.count == format.planeCount
            && planes.indices.allSatisfy { index in
                let size = format.size(ofPlane: index)
                return ZimgPlane.isFit(
                    address: planes[index].memory.baseAddress, count: planes[index].memory.count,
                    stride: planes[index].stride, rowBytes: size.width * format.depth.bytes,
                    height: size.height)
            }
        guard areFit else {
            throw ZimgError(kind: .internal, text: "planes do not fit the graph")
        }
    }
}
