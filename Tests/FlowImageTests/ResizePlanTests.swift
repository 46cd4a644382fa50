import Testing

@testable import FlowImage

struct ResizePlanTests {
  /// What a resize leads to: a picture's size, the box, the fit, whether it enlarges, and the three sizes.
  struct Case: Sendable {
    var size: (Int, Int)
    var box: (Int?, Int?)
    var fit: Resize.Fit
    var enlarges = false
    var scaled: (Int, Int)
    var kept: (Int, Int)
    var canvas: (Int, Int)
  }

  static let cases = [
    Case(size: (400, 200), box: (100, 100), fit: .inside, scaled: (100, 50), kept: (100, 50), canvas: (100, 50)),
    Case(size: (400, 200), box: (100, 100), fit: .cover, scaled: (200, 100), kept: (100, 100), canvas: (100, 100)),
    Case(size: (400, 200), box: (100, 100), fit: .contain, scaled: (100, 50), kept: (100, 50), canvas: (100, 100)),
    Case(size: (400, 200), box: (100, 100), fit: .fill, scaled: (100, 100), kept: (100, 100), canvas: (100, 100)),
    Case(size: (400, 200), box: (100, nil), fit: .cover, scaled: (100, 50), kept: (100, 50), canvas: (100, 50)),
    Case(size: (400, 200), box: (nil, 50), fit: .fill, scaled: (100, 50), kept: (100, 50), canvas: (100, 50)),
    Case(size: (40, 20), box: (100, 100), fit: .inside, scaled: (40, 20), kept: (40, 20), canvas: (40, 20)),
    Case(size: (40, 20), box: (100, 100), fit: .cover, scaled: (40, 20), kept: (40, 20), canvas: (40, 20)),
    Case(size: (40, 20), box: (30, 100), fit: .cover, scaled: (40, 20), kept: (30, 20), canvas: (30, 20)),
    Case(size: (40, 20), box: (100, 100), fit: .contain, scaled: (40, 20), kept: (40, 20), canvas: (100, 100)),
    Case(size: (40, 20), box: (100, 10), fit: .fill, scaled: (40, 10), kept: (40, 10), canvas: (40, 10)),
    Case(
      size: (40, 20), box: (100, 100), fit: .inside, enlarges: true, scaled: (100, 50), kept: (100, 50),
      canvas: (100, 50)),
    Case(
      size: (40, 20), box: (100, 100), fit: .cover, enlarges: true, scaled: (200, 100), kept: (100, 100),
      canvas: (100, 100)),
    Case(
      size: (40, 20), box: (100, 100), fit: .contain, enlarges: true, scaled: (100, 50), kept: (100, 50),
      canvas: (100, 100)),
    Case(
      size: (40, 20), box: (100, 100), fit: .fill, enlarges: true, scaled: (100, 100), kept: (100, 100),
      canvas: (100, 100)),
    Case(size: (10_000, 1), box: (100, nil), fit: .inside, scaled: (100, 1), kept: (100, 1), canvas: (100, 1)),
    Case(size: (333, 500), box: (100, nil), fit: .inside, scaled: (100, 150), kept: (100, 150), canvas: (100, 150)),
  ]

  @Test(arguments: cases)
  func `a box gives the sizes that its fit promises`(_ test: Case) {
    var resize = Resize(width: test.box.0, height: test.box.1)
    resize.fit = test.fit
    resize.enlarges = test.enlarges
    let plan = ResizePlan(resize, of: PictureSize(test.size.0, test.size.1))
    #expect(plan.scaled == PictureSize(test.scaled.0, test.scaled.1))
    #expect(plan.kept == PictureSize(test.kept.0, test.kept.1))
    #expect(plan.canvas == PictureSize(test.canvas.0, test.canvas.1))
  }

  @Test func `no size is ever nothing, and inside never juts out`() {
    for width in stride(from: 1, to: 400, by: 37) {
      for height in stride(from: 1, to: 400, by: 41) {
        for box in [1, 7, 64, 300] {
          let plan = ResizePlan(Resize(width: box, height: box), of: PictureSize(width, height))
          #expect(plan.scaled.width >= 1 && plan.scaled.height >= 1)
          #expect(plan.scaled.width <= max(box, 1) && plan.scaled.height <= max(box, 1))
        }
      }
    }
  }

  @Test func `gravity says where a part lies`() {
    let wanted: [(Gravity, Int, Int)] = [
      (.northwest, 0, 0), (.north, 10, 0), (.northeast, 20, 0), (.west, 0, 5), (.centre, 10, 5), (.east, 20, 5),
      (.southwest, 0, 10), (.south, 10, 10), (.southeast, 20, 10),
    ]
    for (gravity, x, y) in wanted {
      #expect(gravity.offset(across: 30, of: 10) == x)
      #expect(gravity.offset(down: 20, of: 10) == y)
    }
  }
}
