"""Subject words: which English and Chinese words name the same thing in tables and goals."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Literal

from planloom.planning.goals.wording import norms

Role = Literal["measure", "category", "person", "entity", "event", "date", "topic"]
"""What a family's columns are used for.

"person" and "entity" are things that can be counted as well as compared; "event" is what a row may
stand for (an order, a visit), so that rows are counted when no column holds it; "topic" qualifies
other words and is never missed when it names no column.
"""


@dataclass(frozen=True, slots=True)
class Concept:
    """One idea, with every word for it."""

    family: str
    """Ideas of one family may stand in for each other, which is then said."""
    name: str
    """The first of its words; unique in the vocabulary."""
    role: Role
    averaged: bool
    """Adding its values makes no sense: a price, a rate, a score."""
    head: bool
    """Takes its meaning from the word before it, as "type" in "customer type"."""


# One line for each concept, words separated by "|"; a line that ends with it goes on in the next.
# The lines of a block form a family; its first line gives name, role and, where they hold, flags.
_VOCABULARY = """
# sales measure
sales|revenue|turnover|gmv|takings|proceeds|sales amount|sales revenue|sales value|sales figures|
net sales|销售额|营业额|营收|营业收入|销售收入|销售金额|业绩|销售业绩|流水|成交额|交易额|成交金额|
交易金额|销售
amount|total amount|order amount|order value|total value|total price|paid amount|payment amount|
money|金额|总额|总金额|订单金额|实付金额|实付款|付款金额|支付金额|总价
# income measure
income|household income|收入|个人收入|家庭收入
# basket measure averaged
average basket|basket size|aov|客单价|客单|笔单价|件单价
# profit measure
profit|net profit|gross profit|earnings|net income|利润|净利润|毛利|毛利润|净利|盈利|利润额|
毛利额
# margin measure averaged
margin|profit margin|gross margin|profitability|利润率|毛利率|净利率
# cost measure
cost|expense|spending|spend|expenditure|outlay|fee|charge|成本|费用|支出|花费|开支|花销|开销|
总费用|总成本|消费
bill|billing|bill amount|billed amount|invoice amount|账单|账单金额|收费
# budget measure
budget|planned cost|预算|预算金额|预算额
# tax measure
tax|vat|税|税额|税费|税金
# price measure averaged
price|unit price|list price|selling price|单价|价格|售价|房价|house price|home price|
价钱|定价|均价|标价
unit cost|单位成本
# discount measure averaged
discount|discount rate|折扣|折扣率|优惠
# quantity measure
quantity|qty|units|unit sold|volume|sales volume|pieces|items sold|数量|销量|销售量|销售数量|件数|
购买数量|订购数量
# stock measure
stock|inventory|stock on hand|on hand|stock level|inventory level|库存|库存量|存货|库存数量|
现存量
stock value|inventory value|库存金额|库存价值
# salary measure averaged
salary|wage|pay|compensation|remuneration|base pay|薪资|工资|薪水|薪酬|月薪|年薪|底薪|待遇
# bonus measure
bonus|commission|incentive|奖金|提成|佣金|绩效奖
# score measure averaged
score|mark|grade|test score|exam score|points|performance score|成绩|分数|得分|考分|绩效|绩效分
total score|总分|总成绩
math|mathematics|math score|数学
chinese|语文
english|英语|英文
physics|物理
chemistry|化学
biology|生物
history|历史
geography|地理
politics|政治
science|科学
reading|reading score|阅读
writing|writing score|写作
gpa|绩点
# satisfaction measure averaged
satisfaction|satisfied|happy|rating|stars|star rating|nps|csat|review score|happiness|
overall satisfaction|满意度|评分|打分|星级|好评率|推荐度|总体满意度
# temperature measure averaged
temperature|temp|heat|温度|气温|体温|水温
# humidity measure averaged
humidity|moisture|湿度
# pressure measure averaged
pressure|气压|压力
# energy measure
energy|electricity|energy use|energy consumption|power consumption|electricity consumption|kwh|
能耗|用电量|耗电量|电量|用电|能源
water|water use|water consumption|用水量|用水
gas|gas consumption|用气量
# power measure averaged
power|load|功率|负荷
voltage|电压
current|电流
# speed measure averaged
speed|velocity|速度|车速|风速|wind speed|wind
# vibration measure averaged
vibration|振动|震动
# air measure averaged
pm25|pm 2.5|pm10|aqi|air quality|空气质量|空气质量指数
# rain measure
rainfall|rain|precipitation|降雨量|降水量|雨量|降水
# noise measure averaged
noise|sound level|噪声|噪音
# emission measure
emission|co2|carbon|carbon emission|co2 emission|greenhouse gas|排放|排放量|碳排放|二氧化碳|
碳排放量
# duration measure averaged
duration|length of stay|stay|response time|latency|load time|waiting time|wait time|
resolution time|handling time|processing time|delivery time|lead time|time spent|time on page|
elapsed time|session length|时长|耗时|天数|住院天数|响应时间|等待时间|处理时间|处理时长|配送时长|
用时|停留时间|停留时长|住院时间|加载时间
delay|arrival delay|lateness|延误|晚点|延迟
# age measure averaged
age|年龄|岁数|年纪
tenure|years of service|seniority|工龄|司龄
# body measure averaged
weight|体重
height|身高
bmi|体质指数
blood pressure|systolic|diastolic|血压|收缩压|舒张压
heart rate|pulse|心率|脉搏
blood sugar|glucose|血糖
cholesterol|胆固醇
# size measure averaged
length|长度
width|宽度
area size|square feet|square metres|面积|建筑面积
depth|深度
magnitude|震级
# life measure averaged
life expectancy|lifespan|寿命|预期寿命|平均寿命
# population measure
population|inhabitant|人口|人口数|人口数量
# gdp measure
gdp|国内生产总值|生产总值
# output measure
output|production|yield|produced|units produced|quantity produced|pieces produced|
production volume|产量|生产量|产值|产出
# defect measure
defect|fault|failure|缺陷|不良|故障|次品|不良品|不合格数|不良数|故障数
downtime|停机|停机时间
scrap|waste|报废|废品
# distance measure
distance|mileage|trip distance|距离|里程|路程
# steps measure
step count|steps|步数
calories|卡路里|热量
# bytes measure
byte|bytes sent|data volume|bandwidth|流量大小|字节|带宽
# click measure
click|点击|点击量|点击数
impression|曝光|曝光量|展现量|展示量
like|点赞|点赞数
share count|reposts|retweets|转发|转发量|转发数
comment count|评论数|评论量
view|play count|播放量|阅读量|观看量
follower|subscribers|粉丝|粉丝数
download|下载量|下载
# registration measure
signup|registration|new user|注册|注册量|新增用户|注册数
# conversion measure
conversion|转化|转化数|转化量
# conversionrate measure averaged
conversion rate|cvr|转化率
ctr|click through rate|点击率
bounce rate|跳出率
# roi measure averaged
roi|roas|return on investment|投资回报率|投产比|回报率
# churn measure averaged
churn|churn rate|attrition|retention|retention rate|turnover rate|流失|流失率|留存|留存率
# returns category
return|refund|returned|returned goods|退货|退款|退单
# attendance measure averaged
attendance|attendance rate|出勤|出勤率
# absence measure
absence|absenteeism|overtime|working hours|缺勤|加班|工时|加班时长
# debt measure
debt|loan|loan amount|债务|贷款|贷款金额|借款
balance|account balance|余额|账户余额
interest rate|利率
interest|利息
asset|资产|总资产
liability|负债
# market measure averaged
stock price|closing price|share price|收盘价|股价
# trade measure
import value|imports|进口|进口额
export value|exports|出口|出口额
# rate measure averaged head
rate|ratio|percentage|率|比率
index|指数
# value topic head
value|figure|number|level|值|额|情况|水平
# place category
region|area|zone|territory|sales region|地区|区域|大区|片区|地域|各地
city|town|municipality|城市|地市|市
province|state|federal state|省份|省|省市
country|nation|国家|国别
continent|大洲|洲
district|county|neighborhood|neighbourhood|borough|区县|县|行政区|街道|商圈
# site category
store|shop|branch|outlet|门店|店铺|分店|网点|店面|专卖店|分公司|商店
site|plant|factory|facility|location|station|站点|工厂|厂区|厂|地点|位置|监测点|车间
warehouse|depot|stockroom|仓库|仓
# product entity
product|item|goods|merchandise|sku|article|product name|item name|产品|商品|货品|物料|单品|品名|
货物|产品名称|商品名称|菜品
# category category head
category|product category|product type|product line|product group|type|kind|class|classification|
品类|类别|种类|分类|类型|大类|产品类别|商品类别|产品类型|产品线|商品分类|商品品类|产品品类|
产品种类|商品种类|类目
subcategory|sub category|小类|子类|子类别
# brand category
brand|make|label|品牌|牌子
model|型号|车型|机型
# customer person
customer|client|buyer|user|member|shopper|consumer|guest|visitor|客户|顾客|用户|会员|买家|消费者|
访客|客人
# segment category
segment|customer segment|customer type|customer group|tier|membership level|客户类型|客群|客户群|
客户类别|会员等级|客户等级|用户类型
# supplier entity
supplier|vendor|manufacturer|producer|供应商|厂商|厂家|供货商|生产商|制造商
# channel category
channel|sales channel|source|traffic source|medium|referrer|referer|platform|marketing channel|
渠道|来源|平台|途径|销售渠道|流量来源|引荐来源|来源渠道
# campaign category
campaign|promotion|marketing campaign|ad campaign|活动|营销活动|促销|促销活动|推广活动|广告
# housing category
house type|property type|home type|building type|户型|房型|房屋类型|物业类型
# payment category
payment method|payment type|payment|payment option|支付方式|付款方式|支付渠道|支付类型
# status category
status|order status|stage|outcome|result|状态|订单状态|进度|结果
# priority category
priority|severity|urgency|importance|优先级|紧急程度|严重程度|重要程度
# department category
department|dept|team|division|business unit|部门|团队|科室|事业部|小组|科|部
# position category
job title|position|job role|role|job|occupation|profession|职位|岗位|职务|职称|职业|工种
# employee person
employee|staff|worker|colleague|workforce|people|person|personnel|employee name|员工|职工|人员|
雇员|店员|同事
# salesperson person
salesperson|sales person|salespeople|sales rep|sales representative|salesman|seller|rep|
representative|account manager|销售员|业务员|销售人员|导购|销售代表|客户经理|业务人员
agent|operator|handler|support agent|客服|坐席|经办人|处理人|负责人
manager|owner|经理|主管
# student person
student|pupil|learner|student name|学生|同学|学员|考生
# teacher person
teacher|professor|instructor|lecturer|老师|教师|讲师|任课老师|任课教师
# class category
classroom|homeroom|班级|班|班别
grade level|year group|school year|年级
# school entity
school|college|university|学校|院校|学院|大学
# subject category
subject|course|module|科目|课程|学科|专业
# gender category
gender|sex|male and female|men and women|male or female|female and male|women and men|
boys and girls|性别|男女|男女生|男生和女生|男性和女性
# agegroup category
age group|age band|age range|age bracket|年龄段|年龄组|年龄层|年龄区间
# education category
education|education level|degree|qualification|schooling|学历|教育程度|文化程度|受教育程度
# marital category
marital status|婚姻状况|婚姻|婚否
# patient person
patient|inpatient|outpatient|患者|病人|病患
# doctor person
doctor|physician|surgeon|医生|医师|主治医生|大夫
# diagnosis category
diagnosis|disease|condition|illness|disorder|诊断|疾病|病种|病因|病症|诊断结果
# treatment category
treatment|therapy|procedure|治疗|治疗方式|手术|疗法|处理组
drug|medication|medicine|药品|药物
# insurance category
insurance|insurer|payer|insurance type|医保|保险|医保类型|医疗保险|参保类型
# ward category
ward|hospital|clinic|病区|病房|医院
# device entity
device|sensor|machine|equipment|device type|meter|设备|传感器|机器|终端|机台|仪器|装置|设备类型
# page entity
page|url|landing page|web page|path|页面|网页|链接|网址
# browser category
browser|浏览器
operating system|os|操作系统
# language category
language|语言
# weekday category
weekday|day of week|day of the week|星期|周几|星期几|工作日
# shift category
shift|班次
line|production line|生产线|产线
# group category
group|cohort|组别|分组|组|群组
species|breed|物种|品种|种
# industry category
industry|sector|行业|产业|领域
# company entity
company|firm|organisation|organization|business|enterprise|公司|企业|单位|机构
# project entity
project|programme|program|项目|工程
# account category
account|ledger account|cost center|cost centre|会计科目|账户|成本中心|费用科目
# vehicle entity
vehicle|car|truck|车辆|汽车|车
driver|司机|驾驶员
route|线路|路线|航线
airline|carrier|courier|航空公司|承运商|快递公司|物流公司
# genre category
genre|style|题材|流派|风格
author|writer|director|artist|作者|导演|艺术家|歌手
publisher|出版社|出版商
title|book|movie|film|song|game|书名|片名|电影|歌曲|图书|书籍|游戏
# answer category
answer|option|choice|答案|选项
question|题目|问题
reason|cause|原因|理由
recommend|would recommend|是否推荐|推荐
# weather category
weather|天气
season|季节
# holiday category
holiday|节假日|节日
# name topic head
name|姓名|名称|名字
id|code|identifier|编号|编码|代码|号
# order event
order|purchase|transaction|deal|booking|invoice|订单|交易|单量|订单量|下单|笔数|购买|成交
# visit event
visit|hit|session|request|traffic|page view|pageview|pv|access|footfall|访问|访问量|浏览量|流量|
请求|请求量|客流|客流量|人流量|到店人数|会话
# ticket event
ticket|case|complaint|issue|incident|call|support request|工单|投诉|案件|事件|来电|投诉量|工单量|
报修
accident|crash|collision|事故
# admission event
admission|hospitalisation|hospitalization|入院|住院|就诊|收治
discharge|出院
# hire event
hire|hiring|recruitment|new hire|joiner|onboarding|入职|招聘|新员工
leaver|resignation|departure|termination|离职
# record event
record|row|entry|observation|event|measurement|reading count|记录|条数|条目|数据量
# response event
response|reply|submission|questionnaire|survey response|答卷|回复|问卷|回收量|提交
# respondent person
respondent|participant|interviewee|受访者|被调查者|参与者|被访者|受访人|填写人
# shipment event
shipment|delivery|shipping|发货|配送|物流|运输|运单|快递|包裹
flight|trip|ride|航班|行程|骑行
application|申请
# date date
date|day|日期|时间|timestamp|datetime|period
"""


@cache
def concepts_by_words() -> dict[tuple[str, ...], Concept]:
    """Return the concept of each phrase; keys are comparable tokens."""
    found: dict[tuple[str, ...], Concept] = {}
    family, role, flags = "", "topic", [""]
    for line in _VOCABULARY.strip().replace("|\n", "|").splitlines():
        if line.startswith("# "):
            family, role, *flags = line[2:].split()
            continue
        words = line.split("|")
        concept = Concept(family, words[0], _role(role), "averaged" in flags, "head" in flags)
        for word in words:
            found.setdefault(norms(word), concept)
    return found


def _role(word: str) -> Role:
    for role in ("measure", "category", "person", "entity", "event", "date", "topic"):
        if role == word:
            return role
    raise ValueError(f"'{word}' is not a role")


@cache
def longest_concept() -> int:
    """Return the number of tokens of the longest phrase."""
    return max(map(len, concepts_by_words()))


def concepts_in(tokens: tuple[str, ...]) -> tuple[tuple[Concept, int], ...]:
    """Return the concepts that a name is made of, each with the index after its last token.

    >>> [concept.name for concept, _ in concepts_in(norms("customer_city"))]
    ['customer', 'city']
    """
    table, i = concepts_by_words(), 0
    found: list[tuple[Concept, int]] = []
    while i < len(tokens):
        for n in range(min(longest_concept(), len(tokens) - i), 0, -1):
            concept = table.get(tokens[i : i + n])
            if concept:
                found.append((concept, i + n))
                i += n
                break
        else:
            i += 1
    return tuple(found)
